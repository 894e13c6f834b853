"""How the blockwise engine looks at a mask: rectangles, blocks and orders."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from keras import ops

from keras_attention.ops import _backend

Tensor = Any
Span = tuple[Any, Any]  # (start, size): Python ints, or scalar tensors inside a loop

EMPTY, PARTIAL, FULL = 0, 1, 2


class Order(NamedTuple):
    """Query indices and key indices in another order; `None` is the natural one.

    Keys that no query may attend can be left out.
    """

    queries: np.ndarray | None = None
    keys: np.ndarray | None = None


def taken(tensor: Tensor, indices: np.ndarray | None, axis: int) -> Tensor:
    """`tensor` in another order along `axis`; an axis of size 1 broadcasts."""
    if indices is None or tensor.shape[axis] == 1:
        return tensor
    return ops.take(tensor, indices, axis=axis)


class Window(NamedTuple):
    """A rectangle of the `(B, N, T, S)` scores.

    `offset` is added to query indices to give their positions; `order` is that of the
    rows and columns which `queries` and `keys` count.
    """

    batch: Span
    heads: Span
    queries: Span
    keys: Span
    offset: Any
    order: Order = Order()

    def query_positions(self) -> Tensor:
        """Position of every row."""
        return _picked(self.order.queries, self.queries) + self.offset

    def key_positions(self) -> Tensor:
        """Position of every column."""
        return _picked(self.order.keys, self.keys)

    def cut(self, tensor: Tensor, *spans: Span) -> Tensor:
        """The part of `tensor` inside `spans`; an axis of size 1 broadcasts whole."""
        starts, shape = [], []
        for axis_size, (start, size) in zip(_backend.sizes(tensor), spans, strict=True):
            whole = _backend.is_static(axis_size) and axis_size == 1
            starts.append(0 if whole else start)
            shape.append(1 if whole else size)
        if _covers(tensor, starts, shape):
            return tensor
        return ops.slice(tensor, tuple(starts), tuple(shape))


def _picked(order: np.ndarray | None, span: Span) -> Tensor:
    start, size = span
    if order is None:
        return ops.arange(size) + start
    order = ops.convert_to_tensor(order, dtype="int32")
    return ops.slice(order, (start,), (size,))


def _covers(tensor: Tensor, starts: list, shape: list) -> bool:
    if not _backend.is_static(*starts):
        return False
    if any(starts):
        return False
    axis_sizes = _backend.sizes(tensor)
    return all(
        asked is size or (_backend.is_static(asked, size) and asked == size)
        for asked, size in zip(shape, axis_sizes, strict=True)
    )


@dataclass(frozen=True)
class Blocks:
    """Positions in runs: what the planner knows of each block.

    Attributes:
        positions: Of all rows or columns, in the order they are computed in.
        starts: Index of each block's first entry in `positions`.
    """

    positions: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def first(self) -> np.ndarray:
        """The lowest position of each block."""
        return np.minimum.reduceat(self.positions, self.starts)

    @property
    def last(self) -> np.ndarray:
        """The highest position of each block."""
        return np.maximum.reduceat(self.positions, self.starts)

    def residues(self, period: int) -> "tuple[np.ndarray, np.ndarray]":
        """The lowest and the highest residue of the positions of each block."""
        residues = self.positions % period
        return (
            np.minimum.reduceat(residues, self.starts),
            np.maximum.reduceat(residues, self.starts),
        )
