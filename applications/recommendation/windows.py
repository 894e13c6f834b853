"""Training histories cut into rows of one width."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Pieces of histories, left-aligned, 0 behind their end.

    Attributes:
        items: int32 `(n, W)`.
        users: Whose they are, int32 `(n,)`.
    """

    items: np.ndarray
    users: np.ndarray


def windows(items: np.ndarray, length: int, overlap: int) -> Iterator[np.ndarray]:
    """Cut a history from its end into pieces of `length + overlap` items, or fewer.

    A piece shares its first `overlap` items with the end of the piece before it: with
    one of overlap every item but the very first is once asked for after another.

    Examples:
    >>> [piece.tolist() for piece in windows(np.arange(1, 6), 2, 1)]
    [[3, 4, 5], [1, 2, 3]]
    >>> [piece.tolist() for piece in windows(np.arange(1, 6), 2, 0)]
    [[4, 5], [2, 3], [1]]
    """
    end = len(items)
    while end > overlap:
        start = max(end - length - overlap, 0)
        yield items[start:end]
        end = start + overlap


def rows(histories: Sequence[np.ndarray], length: int, overlap: int) -> Rows:
    """The pieces of all histories of two items or more, in order.

    Args:
        histories: What each user took, in order, ids from 1 on.
        length: From the end of a piece to the end of the next.
        overlap: Items that neighbouring pieces share.
    """
    pieces = [
        (user, piece)
        for user, items in enumerate(histories)
        if len(items) > 1
        for piece in windows(items, length, overlap)
    ]
    found = np.zeros((len(pieces), length + overlap), "int32")
    for row, (_, piece) in zip(found, pieces, strict=True):
        row[: len(piece)] = piece
    return Rows(found, np.array([user for user, _ in pieces], "int32"))
