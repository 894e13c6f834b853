"""From histories to the scores of all items, for any number of users."""

from collections.abc import Callable, Iterator, Sequence

import keras
import numpy as np
import tensorflow as tf

# What gives the scores `(b, V)` of histories: a model, or a baseline.
Score = Callable[[Sequence[np.ndarray]], np.ndarray]

USERS_AT_ONCE = 128


class Scorer:
    """A model that takes histories of any length, in blocks of one shape.

    Args:
        model: A `models.SequenceRecommender`.
        max_length: Items it reads; of a longer history the last.
    """

    def __init__(self, model: keras.Model, max_length: int):
        self.model, self.max_length = model, max_length
        self._compiled = tf.function(
            model.next_scores,
            input_signature=[tf.TensorSpec([None, max_length], tf.int32)],
            autograph=False,
        )

    def __call__(self, histories: Sequence[np.ndarray]) -> np.ndarray:
        """Scores `(n, V)` float32 of what comes next, minus infinity for item 0."""
        parts = [
            self._compiled(tf.constant(padded(block, self.max_length))).numpy()
            for block in blocks(histories)
        ]
        return np.concatenate(parts)


def blocks(histories: Sequence[np.ndarray]) -> Iterator[Sequence[np.ndarray]]:
    """Histories, so many at once as fit: a block has a score for every item."""
    for start in range(0, len(histories), USERS_AT_ONCE):
        yield histories[start : start + USERS_AT_ONCE]


def padded(histories: Sequence[np.ndarray], length: int | None = None) -> np.ndarray:
    """The last items of each history, left-aligned, int32 `(n, length)`.

    Without a length all of them, as wide as the longest.

    Examples:
    >>> padded([np.array([1, 2, 3]), np.array([4])], 2).tolist()
    [[2, 3], [4, 0]]
    """
    if length is None:
        length = max(map(len, histories), default=0)
    found = np.zeros((len(histories), length), "int32")
    for row, items in zip(found, histories, strict=True):
        last = items[-length:]
        row[: len(last)] = last
    return found
