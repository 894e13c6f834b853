"""Spans of a row of tokens: how long they are, where they lie, and what replaces them.

For `tf.data`; every draw follows from a seed, int32 `(2,)`.
"""

from typing import NamedTuple

import tensorflow as tf


class Spans(NamedTuple):
    """Spans of a row of tokens, in their order.

    Attributes:
        taken: Places of the tokens inside a span, ascending.
        kept: Places of all others, ascending.
        gaps: How many of the others stand before each span.
    """

    taken: tf.Tensor
    kept: tf.Tensor
    gaps: tf.Tensor

    def replaced(self, ids: tf.Tensor, marks: tf.Tensor) -> tf.Tensor:
        """A row of ids in which each span is one mark."""
        kept = tf.gather(ids, self.kept)
        return merged(marks, 2 * self.gaps, kept, 2 * tf.range(tf.size(kept)) + 1)


def place(length: tf.Tensor, lengths: tf.Tensor, seed: tf.Tensor) -> Spans:
    """Put spans anywhere in a row, with a token between any two.

    Args:
        length: Tokens of the row; no fewer are left than there are spans, less one.
        lengths: Tokens of each span, `(spans,)`.
        seed: Decides where.
    """
    left = length - tf.reduce_sum(lengths)
    gaps = _distinct(left + 1, tf.size(lengths), seed)
    taken = tf.repeat(gaps, lengths) + tf.range(length - left)
    kept = tf.range(left)
    tokens_of_first = tf.concat([[0], tf.cumsum(lengths)], axis=0)
    spans_before = tf.searchsorted(gaps, kept, side="right")
    return Spans(taken, kept + tf.gather(tokens_of_first, spans_before), gaps)


def composition(total: tf.Tensor, count: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """`count` lengths of 1 and more that add up to `total`, all such equally likely."""
    cuts = _distinct(total - 1, count - 1, seed) + 1
    edges = tf.concat([[0], cuts, [total]], axis=0)
    return edges[1:] - edges[:-1]


def poisson_lengths(total: tf.Tensor, mean: float, seed: tf.Tensor) -> tf.Tensor:
    """Lengths of 0 and more, drawn until they add up to `total`; the last is cut."""
    drawn = tf.random.stateless_poisson([total], seed, mean, tf.int32)
    before = tf.cumsum(drawn, exclusive=True)
    return tf.boolean_mask(tf.minimum(drawn, total - before), before < total)


def merged(
    first: tf.Tensor, first_keys: tf.Tensor, second: tf.Tensor, second_keys: tf.Tensor
) -> tf.Tensor:
    """Two rows as one, in the order of their keys."""
    order = tf.argsort(tf.concat([first_keys, second_keys], axis=0), stable=True)
    return tf.gather(tf.concat([first, second], axis=0), order)


def _distinct(total: tf.Tensor, count: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """`count` different numbers of 0 to `total - 1`, ascending."""
    shuffle = tf.random.experimental.stateless_shuffle
    numbers = tf.range(tf.maximum(total, 0))
    return tf.sort(shuffle(numbers, seed)[:count])
