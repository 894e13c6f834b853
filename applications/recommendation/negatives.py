"""Items that a user has not taken, drawn by a key."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf


class Negatives(NamedTuple):
    """What was drawn.

    Attributes:
        items: int32 `(B, K)`, none twice in a row; 0 where there are fewer than K.
        log_chance: Of each item to be one draw, float32 `(B, K)`.
    """

    items: tf.Tensor
    log_chance: tf.Tensor


def negatives(
    taken: tf.RaggedTensor, num_items: int, count: int, key: tf.Tensor
) -> Negatives:
    """Draw items at random out of all but those that were taken, without repetition.

    Nothing is drawn again: the numbers drawn are places among what is left, which
    `searchsorted` turns into items, so that a user who took nearly everything costs the
    same. Each item that is left is as likely as any other: the places are one from each
    of `count` equal parts of what is left, moved round by a random step.

    Args:
        taken: What each user took, `(B, None)` int32 from 1 to `num_items`, in the
            order of the numbers, none twice.
        num_items: How many there are.
        count: How many to draw, K.
        key: int32 `(2,)`. The same key and items give the same.
    """
    behind = num_items + 1
    sorted_items = taken.to_tensor(behind)  # (B, M)
    left = tf.cast(num_items - taken.row_lengths(), tf.int64)[:, None]  # (B, 1)
    places, there = _places(left, count, key)
    # The j-th taken item has `item - (j + 1)` items that are left before it.
    before = sorted_items - tf.range(1, tf.shape(sorted_items)[1] + 1)
    before = tf.where(sorted_items == behind, behind, before)
    passed = tf.searchsorted(before, places, side="right")  # (B, K)
    items = tf.where(there, places + 1 + passed, 0)
    chance = -tf.math.log(tf.cast(tf.maximum(left, 1), tf.float32))
    return Negatives(items, tf.broadcast_to(chance, tf.shape(items)))


def _places(left: tf.Tensor, count: int, key: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Different numbers below `left`, `(B, K)` int32, and where there is one."""
    bounds = tf.range(count + 1, dtype=tf.int64)[None] * left // count  # (B, K + 1)
    widths = bounds[:, 1:] - bounds[:, :-1]
    keys = tf.random.experimental.stateless_split(key, 2)
    within = _below(widths, keys[0])
    step = _below(left, keys[1])
    places = (bounds[:, :-1] + within + step) % tf.maximum(left, 1)
    return tf.cast(places, tf.int32), widths > 0


def _below(bounds: tf.Tensor, key: tf.Tensor) -> tf.Tensor:
    """A random number from 0 to one less than each bound; 0 where the bound is 0."""
    share = tf.random.stateless_uniform(tf.shape(bounds), key, dtype=tf.float64)
    return tf.cast(share * tf.cast(bounds, tf.float64), tf.int64)


def sorted_ragged(histories: list[np.ndarray]) -> tf.RaggedTensor:
    """Histories as `negatives` takes them, `(n, None)` int32."""
    return tf.RaggedTensor.from_row_lengths(
        np.concatenate([np.zeros(0), *map(np.sort, histories)]).astype("int32"),
        [len(items) for items in histories],
    )
