"""Which past items the next recommendation looked at."""

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from applications.recommendation.scorer import Scorer
from keras_attention import interpretation

ATTENTION = "attention"


def shares(
    model: keras.Model, history: np.ndarray, item: int, max_length: int
) -> dict[str, np.ndarray] | None:
    """The share of each item that is read, in what the next item is chosen by.

    Of a transformer by rollout, from the place that is asked (of `sasrec` the last
    item, of `bert4rec` the mask behind it), and beside it each head of the last block.
    Of `narm` what the last state asks for; of `din` what the item asks for, each head
    and their mean.

    Args:
        model: A `models.SequenceRecommender`.
        history: What a user took, in order, one item or more.
        item: The recommended one.
        max_length: Items the model reads.

    Returns:
        By name `(m,)` for the last m items, each with the sum 1, `ATTENTION` first; or
        `None` where the model does not attend or never holds scores.
    """
    items = tf.constant(history[None, -max_length:], tf.int32)
    with interpretation.recording(model) as record:
        if model.kind == "din":
            model.scores(items, tf.constant([[item]], tf.int32))
        else:
            model.next_scores(items)
    if not record.names:
        return None
    if model.kind == "din":
        heads = record.numpy(0)[0, :, 0]  # (N, m)
        return _named(heads.mean(axis=0), heads)
    if model.kind == "narm":
        return _named(record.numpy(0)[0, -1])
    behind = int(model.kind == "bert4rec")  # the mask looks at itself too
    last = record.numpy(-1)[0, :, -1]  # (N, m + behind)
    followed = interpretation.rollout(record)[0, -1]
    end = len(followed) - behind
    return _named(followed[:end], last[:, :end])


def _named(
    mean: np.ndarray, heads: np.ndarray | tuple[()] = ()
) -> dict[str, np.ndarray]:
    """Shares by name; one head alone says what the mean says."""
    named = {f"head {number}": head for number, head in enumerate(heads)}
    found = {ATTENTION: mean, **(named if len(named) > 1 else {})}
    return {name: _normalized(values) for name, values in found.items()}


def _normalized(values: np.ndarray) -> np.ndarray:
    """To the sum 1; what has none is even."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def falls(
    score: Scorer, history: np.ndarray, item: int, places: Sequence[int]
) -> np.ndarray:
    """How far the log-probability of an item falls without an item of the history.

    Args:
        score: Of the model.
        history: `(n,)`, two items or more.
        item: The recommended one.
        places: Of the items that are left out, one at a time.

    Returns:
        `(len(places),)`: above 0 what spoke for the item.
    """
    without = [np.delete(history, place) for place in places]
    found = log_probabilities(score([history, *without]))[:, item]
    return found[0] - found[1:]


def log_probabilities(scores: np.ndarray) -> np.ndarray:
    """Of all items, `(n, V)`, from scores of which some are minus infinity."""
    highest = scores.max(axis=1, keepdims=True)
    total = np.exp(scores - highest).sum(axis=1, keepdims=True)
    return scores - highest - np.log(total)
