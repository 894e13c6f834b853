"""Clips of any length: in random order, in parallel, padded to a batch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from applications.pipeline.epochs import as_written


def in_random_order(
    rows: tf.data.Dataset, most: int, examples: int | None = None
) -> Callable[[tf.Tensor], tf.data.Dataset]:
    """From a key, int32 `(2,)`, to all rows in the order that follows from it.

    Args:
        rows: Tuples of clips of any length and what belongs to them, a known number.
        most: Up to so many are held in memory and shuffled; of more, so many at a time
            while they are read, which takes TensorFlow's own seed too.
        examples: How many there are in an order, by default as many as rows; where it
            is more, rows come again.
    """
    count = int(rows.cardinality())
    examples = examples or count
    if count > most:

        def by_buffer(key: tf.Tensor) -> tf.data.Dataset:
            seed = tf.random.stateless_uniform((), key, None, None, tf.int64)
            again = rows.repeat().take(examples) if examples != count else rows
            return again.shuffle(most, seed, reshuffle_each_iteration=False)

        return by_buffer
    with tf.device("CPU:0"):  # as tensors they are no part of the graph
        held = rows.ragged_batch(most).get_single_element()

    def in_memory(key: tf.Tensor) -> tf.data.Dataset:
        order = tf.random.experimental.stateless_shuffle(tf.range(examples), key)
        numbers = tf.data.Dataset.from_tensor_slices(order % count)
        return numbers.map(as_written(lambda row: tuple(part[row] for part in held)))

    return in_memory


def parallel(rows: tf.data.Dataset, change: Callable) -> tf.data.Dataset:
    """What `change` makes of rows, several at a time and in their order."""
    return rows.map(change, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)


def padded(clips: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Frames `(n, T, F)` of clips, zeros behind their ends, and their numbers."""
    lengths = np.array([len(clip) for clip in clips], "int32")
    frames = np.zeros((len(clips), lengths.max(), clips[0].shape[1]), "float32")
    for row, clip in zip(frames, clips, strict=True):
        row[: len(clip)] = clip
    return frames, lengths


def model_inputs(frames: tf.Tensor, lengths: tf.Tensor) -> dict[str, Any]:
    """What a model that hears takes, of padded frames and their numbers."""
    mask = tf.sequence_mask(lengths, tf.shape(frames)[1])
    return {"frames": tf.convert_to_tensor(frames), "padding_mask": mask}
