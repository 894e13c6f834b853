"""Masks that wrap run-time tensors. They never stand in a config."""

import copy
from typing import Any

import keras
from keras import ops

from keras_attention.errors import require
from keras_attention.ops import _backend
from keras_attention.ops.masks.base import Mask
from keras_attention.ops.masks.windows import Span, taken

Tensor = Any


class Padding(Mask):
    """Hides padded positions.

    Args:
        mask: `(B, S)` bool or int, True = a real key. `None`: all keys are real.
        query_mask: `(B, T)` bool or int; a padded query has nothing to attend.
    """

    def __init__(self, mask: Tensor | None = None, query_mask: Tensor | None = None):
        self.mask = None if mask is None else as_boolean("mask", mask)
        self.query_mask = (
            None if query_mask is None else as_boolean("query_mask", query_mask)
        )

    def tile(self, window):
        tile = ops.ones((1, 1, 1, 1), dtype="bool")
        if self.mask is not None:
            cut = window.cut(self.mask, _within(window.batch, self.mask), window.keys)
            # Not `cut[:, None, None]`: LiteRT has no such slice of unknown sizes.
            tile = tile & ops.expand_dims(cut, (1, 2))
        if self.query_mask is not None:
            batch = _within(window.batch, self.query_mask)
            cut = window.cut(self.query_mask, batch, window.queries)
            tile = tile & ops.expand_dims(cut, (1, 3))
        return tile

    def reordered(self, order):
        keys, queries = self.mask, self.query_mask
        return Padding(
            None if keys is None else taken(keys, order.keys, 1),
            None if queries is None else taken(queries, order.queries, 1),
        )


class Dense(Mask):
    """A mask given as a tensor.

    Args:
        mask: Bool or int `(T, S)`, `(B, T, S)` or `(B, N, T, S)`; True = may attend.
            Axes of size 1 broadcast.
        name: What errors call it.
    """

    def __init__(self, mask: Tensor, name: str = "mask"):
        mask = as_boolean(name, mask)
        rank = len(mask.shape)
        require(
            rank in (2, 3, 4),
            f"`{name}` must have shape (T, S), (B, T, S) or (B, N, T, S).",
            shape=tuple(mask.shape),
        )
        if rank == 2:
            mask = ops.expand_dims(mask, 0)
        self.mask = mask if rank == 4 else ops.expand_dims(mask, 1)

    def tile(self, window):
        batch = _within(window.batch, self.mask)
        heads = _within(window.heads, self.mask, axis=1)
        return window.cut(self.mask, batch, heads, window.queries, window.keys)

    def reordered(self, order):
        return Dense(taken(taken(self.mask, order.queries, 2), order.keys, 3))


class Documents(Mask):
    """Positions of one document attend each other, those of different ones never.

    For documents packed into one row; padding is hidden by a `Padding` beside it. Which
    blocks are empty is known at run time only, so every score is computed; where the
    longest document is known, `& Local(longest)` leaves a band of that width.

    Args:
        ids: `(B, S)` int, the document of each key.
        query_ids: `(B, T)` int, that of each query; by default what `ids` says of the
            query's position.
    """

    def __init__(self, ids: Tensor, query_ids: Tensor | None = None):
        self.ids = _integers("ids", ids)
        self.query_ids = (
            None if query_ids is None else _integers("query_ids", query_ids)
        )
        self._by_position = self.ids  # stays in natural order

    def tile(self, window):
        batch = _within(window.batch, self.ids)
        keys = window.cut(self.ids, batch, window.keys)[:, None, :]
        if self.query_ids is not None:
            queries = window.cut(self.query_ids, batch, window.queries)
            return (queries[:, :, None] == keys)[:, None]
        length = _backend.sizes(self._by_position)[1]
        positions = window.query_positions()
        known = window.cut(self._by_position, batch, (0, length))
        queries = ops.take(known, ops.clip(positions, 0, length - 1), axis=1)
        is_position = (positions >= 0) & (positions < length)
        return ((queries[:, :, None] == keys) & is_position[:, None])[:, None]

    def reordered(self, order):
        changed = copy.copy(self)
        changed.ids = taken(self.ids, order.keys, 1)
        if self.query_ids is not None:
            changed.query_ids = taken(self.query_ids, order.queries, 1)
        return changed


def _within(span: Span, tensor: Tensor, axis: int = 0) -> Span:
    """`span`, where size `None` means the whole axis of `tensor`."""
    start, size = span
    return (start, _backend.sizes(tensor)[axis]) if size is None else span


def as_boolean(name: str, mask: Tensor) -> Tensor:
    """`mask` as a boolean tensor; a float mask is refused.

    Raises:
        ValueError: for a float mask. Keras casts such a mask and silently inverts the
            meaning of additive masks (0 = keep, large negative = drop).
    """
    mask = ops.convert_to_tensor(mask)
    dtype = keras.backend.standardize_dtype(mask.dtype)
    require(
        "float" not in dtype,
        f"`{name}` must be bool or int, True / 1 = may attend. "
        "Numbers to add to the logits go to `attention_bias`.",
        dtype=dtype,
    )
    return ops.cast(mask, "bool")


def as_mask(mask: "Mask | Tensor | None", name: str = "mask") -> Mask | None:
    """A mask object from a mask object, a tensor or `None`."""
    return mask if mask is None or isinstance(mask, Mask) else Dense(mask, name)


def _integers(name: str, ids: Tensor) -> Tensor:
    ids = ops.convert_to_tensor(ids)
    dtype = keras.backend.standardize_dtype(ids.dtype)
    require(
        "int" in dtype and len(ids.shape) == 2,
        f"`{name}` must be integers of shape (batch, length).",
        dtype=dtype,
        shape=tuple(ids.shape),
    )
    return ids
