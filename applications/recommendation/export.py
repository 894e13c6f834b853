"""The SavedModel: what somebody took in, what comes next out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from applications.errors import UserError
from applications.recommendation.recommender import Recommender
from applications.recommendation.scorer import padded
from keras_attention import export as exporting

RECOMMEND, NAMED = "recommend", "recommend_titles"
CHECKED_USERS = 100

_BATCH = 25
_TOLERANCE = 1e-3  # of scores in float32, over other orders of summing
_NOTHING = np.float32(-1e30)  # minus infinity, which has no difference to itself


def export(recommender: Recommender, directory: Path) -> None:
    """Write the endpoints `recommend`, also `serving_default`, and `recommend_titles`.

    Histories are of any number and length: `recommend` takes `items` `(B, T)`, numbers,
    0 = none; `recommend_titles` takes `names` `(B, T)`, the log's own, `""` = none.
    They return `items` and `scores` `(B, k)`, the second `titles` too.
    """
    endpoints = {
        RECOMMEND: (recommender.answer, [_spec(tf.int32, "items")]),
        NAMED: (recommender.named, [_spec(tf.string, "names")]),
    }
    exporting.write(directory, endpoints, [recommender.model, recommender.lookup])


def check(
    directory: Path, histories: Sequence[np.ndarray], recommender: Recommender
) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Args:
        directory: The SavedModel.
        histories: Of users, of any length; an empty one and a very long one are added.
        recommender: What was exported.

    Raises:
        UserError: The answers differ, or hold what was taken.
    """
    batches = _batches(histories, recommender.catalogue.num_items)
    names = np.array(recommender.catalogue.names, object)
    asked = [{"items": batch, "names": names[batch]} for batch in batches]
    answers = exporting.ask_alone(directory, asked, [RECOMMEND, NAMED], ranks=(2,))
    for row, batch in enumerate(batches):
        here = recommender.answer(tf.constant(batch))
        for endpoint, found in answers.items():
            items = found[row]["items"]
            if endpoint == NAMED:
                items = recommender.lookup(items).numpy()
            _require_same(endpoint, batch, np.array(items), found[row]["scores"], here)
    count = sum(len(batch) for batch in batches)
    print(f"{RECOMMEND}: SavedModel alone equals this process on {count} histories")


def _spec(dtype: tf.DType, name: str) -> tf.TensorSpec:
    return tf.TensorSpec([None, None], dtype, name=name)


def _batches(histories: Sequence[np.ndarray], num_items: int) -> list[np.ndarray]:
    """A history alone, nothing at all, all items but one, and the rest together."""
    nothing = np.zeros((1, 0), "int32")
    everything = np.arange(1, max(num_items, 2), dtype="int32")[None]
    alone = padded(histories[:1])
    some = [padded([*histories[:2], np.zeros(0, "int32")]), nothing, everything]
    chosen = histories[:CHECKED_USERS]
    rest = [
        padded(chosen[start : start + _BATCH])
        for start in range(0, len(chosen), _BATCH)
    ]
    return [alone, *some, *rest]


def _require_same(
    endpoint: str, batch: np.ndarray, items: np.ndarray, scores: Any, here: dict
) -> None:
    """The same scores place by place, the same items but for near ties, none taken."""
    there, expected = (
        np.maximum(values, _NOTHING) for values in (scores, here["scores"].numpy())
    )
    largest = float(np.abs(there - expected).max())
    # Of near ties either may come first, and the last may tie with what follows it.
    apart = -np.diff(expected, axis=1) > _TOLERANCE  # from the next one
    clear = apart & np.pad(apart, [(0, 0), (1, 0)], constant_values=True)[:, :-1]
    different = int((items != here["items"].numpy())[:, :-1][clear].sum())
    taken = sum(
        len(set(row) & set(history) - {0})
        for row, history in zip(items.tolist(), batch.tolist(), strict=True)
    )
    if different or taken or not largest < _TOLERANCE:
        raise UserError(
            f"The exported {endpoint} answers otherwise: scores differ by up to "
            f"{largest:.1e}, {different} items are others, {taken} were taken before."
        )
