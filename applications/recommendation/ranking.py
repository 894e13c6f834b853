"""Where the item that was taken stands among all items, and among sampled ones."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from applications.pipeline.epochs import as_written
from applications.recommendation.data import HeldOut
from applications.recommendation.negatives import negatives, sorted_ragged
from applications.recommendation.scorer import Score, blocks
from keras_attention import metrics

_USERS_AT_ONCE = 4096


class Ranking(NamedTuple):
    """What the scores of a whole split give.

    Attributes:
        full: Ranks among all items but those that a user took before.
        sampled: Ranks among the target and sampled items that the user never took.
        recommended: The first k items of the full ranking, `(n, k)`; 0 = none is left.
    """

    full: metrics.Ranks
    sampled: metrics.Ranks
    recommended: np.ndarray


def full_ranks(score: Score, tests: HeldOut) -> metrics.Ranks:
    """Ranks among all items but those that a user took before."""
    parts = []
    for histories, targets in _blocks(tests):
        scores = score(histories)
        parts.append(metrics.ranks(scores, targets, taken(histories, scores.shape[1])))
    return joined(parts)


def ranking(score: Score, tests: HeldOut, candidates: np.ndarray, k: int) -> Ranking:
    """Both protocols and the lists, of one pass over the users.

    Args:
        score: Of a model or a baseline.
        tests: Whom to recommend to, and what each took.
        candidates: `(n, 1 + K)`, the target first, then sampled items; 0 = none.
        k: Length of the lists.
    """
    full, sampled, recommended = [], [], []
    start = 0
    for histories, targets in _blocks(tests):
        scores = score(histories)
        excluded = taken(histories, scores.shape[1])
        full.append(metrics.ranks(scores, targets, excluded))
        recommended.append(metrics.top_items(scores, k, excluded))
        few = candidates[start : start + len(targets)]
        first = np.zeros(len(few), int)
        among = np.take_along_axis(scores, few, axis=1)
        sampled.append(metrics.ranks(among, first, few == 0))
        start += len(targets)
    return Ranking(joined(full), joined(sampled), np.concatenate(recommended))


def sampled_candidates(
    tests: HeldOut,
    histories: Sequence[np.ndarray],
    num_items: int,
    count: int,
    seed: int,
) -> np.ndarray:
    """The target and items that the user never took, not even later: `(n, 1 + K)`.

    Args:
        tests: Whose targets.
        histories: All that each user of the log took, what is held out among it.
        num_items: How many there are.
        count: Sampled items for each user, K; 0 stands where there are fewer.
        seed: Of the draws, which no model changes.
    """
    draw = tf.function(
        as_written(lambda own, key: negatives(own, num_items, count, key).items),
        reduce_retracing=True,
    )
    parts = []
    for start in range(0, len(tests.users), _USERS_AT_ONCE):
        users = tests.users[start : start + _USERS_AT_ONCE]
        own = sorted_ragged([histories[user] for user in users])
        parts.append(draw(own, tf.constant([seed, start])).numpy())
    return np.concatenate([tests.targets[:, None], np.concatenate(parts)], axis=1)


def taken(histories: Sequence[np.ndarray], size: int) -> np.ndarray:
    """What is no candidate, bool `(n, size)`: padding, and what each user took."""
    found = np.zeros((len(histories), size), bool)
    found[:, 0] = True
    for row, items in zip(found, histories, strict=True):
        row[items] = True
    return found


def joined(parts: Sequence[metrics.Ranks]) -> metrics.Ranks:
    """The ranks of several blocks of users as one."""
    return metrics.Ranks(*map(np.concatenate, zip(*parts, strict=True)))


def _blocks(
    tests: HeldOut,
) -> Iterator[tuple[Sequence[np.ndarray], np.ndarray]]:
    """Histories and targets, so many users at once as scores are made for."""
    start = 0
    for histories in blocks(tests.histories):
        yield histories, tests.targets[start : start + len(histories)]
        start += len(histories)
