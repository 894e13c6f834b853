"""How likely a causal model holds every token of a text."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.text.vocabulary import PADDING
from keras_attention.losses import token_crossentropy


class Window(NamedTuple):
    """A part of a document that is read at once.

    Attributes:
        document: Its number.
        start: Of the first token that is read.
        scored: Of the first token that counts, from `start` on; those before it, which
            another window has scored, are its context.
        stop: After the last token that is read.
    """

    document: int
    start: int
    scored: int
    stop: int


def windows(lengths: Sequence[int], length: int) -> Iterator[Window]:
    """Windows over documents, each half over the one before.

    Every token is scored once; but for the first `length` of a document, after at least
    half a window of context.

    Examples:
    >>> [tuple(window) for window in windows([5], 4)]
    [(0, 0, 0, 4), (0, 2, 2, 5)]
    """
    stride = length // 2
    for document, tokens in enumerate(lengths):
        yield Window(document, 0, 0, min(length, tokens))
        for start in range(stride, tokens - length + stride, stride):
            stop = min(start + length, tokens)
            yield Window(document, start, length - stride, stop)


def token_bits(
    model: Any, documents: Sequence[np.ndarray], length: int, rows_per_batch: int
) -> list[np.ndarray]:
    """`-log2 p` of every token of each document but its first, float64.

    Args:
        model: From ids `(B, T)` to logits `(B, T, V)`.
        documents: Ids, the start token first.
        length: Tokens that the model reads at once.
        rows_per_batch: Windows at once.
    """

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def scores(ids: tf.Tensor) -> tf.Tensor:
        return token_crossentropy(ids[:, 1:], model(ids[:, :-1], training=False))

    found = [np.zeros(len(ids) - 1) for ids in documents]
    parts = sorted(
        windows([len(ids) - 1 for ids in documents], length),
        key=lambda window: window.stop - window.start,
    )
    for first in range(0, len(parts), rows_per_batch):
        some = parts[first : first + rows_per_batch]
        rows = [documents[part.document][part.start : part.stop + 1] for part in some]
        values = scores(_padded(rows)).numpy() / np.log(2)
        for part, row in zip(some, values, strict=True):
            inside = slice(part.scored, part.stop - part.start)
            found[part.document][part.start :][inside] = row[inside]
    return found


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    padded = np.full((len(rows), max(map(len, rows))), PADDING, np.int32)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    return padded
