"""Rows of tokens out of one long stream, cut anew in every epoch and reproducibly."""

import numpy as np
import tensorflow as tf

from applications.errors import UserError
from applications.text.vocabulary import PADDING


class TokenRows:
    """Rows of epoch `e` that depend on `(seed, e)` and on nothing else.

    An epoch cuts the stream into windows that follow each other, from an offset of its
    own, and shuffles them: over the epochs a token stands at every place of a row.

    Args:
        stream: All tokens, `(n,)` int32.
        length: From the beginning of a row to that of the next.
        width: Tokens of a row, `length` or one more: the last one is only predicted.
        rows_per_batch: Rows of a batch; of a short stream all.
        seed: Decides offset and order, together with the epoch.

    Attributes:
        count: Batches per epoch.
        rows_per_batch: Rows of each.

    Raises:
        UserError: The stream has no room for a row.
    """

    def __init__(
        self,
        stream: np.ndarray,
        length: int,
        width: int,
        rows_per_batch: int,
        seed: int = 0,
    ):
        rows = (len(stream) - width + 1) // length
        if rows < 1:
            raise UserError(
                f"The training text has {len(stream)} tokens, a row of data.length="
                f"{length} needs {length + width - 1}. Take more text or shorter rows."
            )
        self.rows_per_batch = min(rows_per_batch, rows)
        self.count = rows // self.rows_per_batch
        self.seed = seed
        self._stream = tf.constant(stream, tf.int32)
        self._length, self._width, self._rows = length, width, rows

    def epoch(self, number: int | tf.Tensor) -> tf.data.Dataset:
        """The rows of one epoch: int32 ids `(width,)`, each with a seed `(2,)`."""
        fold = tf.random.experimental.stateless_fold_in
        seed = tf.stack([self.seed, tf.cast(number, tf.int32)])
        offset = tf.random.stateless_uniform(
            [], fold(seed, 1), 0, self._length, tf.int32
        )
        order = tf.random.experimental.stateless_shuffle(tf.range(self._rows), seed)

        def row(place: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            start = offset + place * self._length
            ids = tf.ensure_shape(
                self._stream[start : start + self._width], [self._width]
            )
            return ids, fold(seed, place + 2)

        kept = order[: self.count * self.rows_per_batch]
        return tf.data.Dataset.from_tensor_slices(kept).map(
            row, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
        )


def whole_rows(stream: np.ndarray, length: int, width: int) -> np.ndarray:
    """All of a stream as rows `(rows, width)`, the last one padded.

    Examples:
    >>> whole_rows(np.array([5, 6, 7, 8]), 2, 3).tolist()
    [[5, 6, 7], [7, 8, 0]]
    """
    starts = range(0, max(len(stream) - (width - length), 1), length)
    rows = np.full((len(starts), width), PADDING, np.int32)
    for row, start in zip(rows, starts, strict=True):
        ids = stream[start : start + width]
        row[: len(ids)] = ids
    return rows
