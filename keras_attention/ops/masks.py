"""Masks: which query position may attend which key position.

A mask is a small object that combines with `&` and `|` and answers two questions:

- `tile(window)`: the boolean mask of a rectangle of the `(B, N, T, S)` scores,
  True = may attend. The whole rectangle is the dense mask, the reference of the tests.
- `block_states(...)`: which blocks of queries x keys are `EMPTY`, `PARTIAL` or `FULL`,
  as far as that is known before run time (otherwise `PARTIAL`). The blockwise engine
  never computes what is `EMPTY`.

Query `i` stands at position `i + (S - T)` (aligned to the end), so one new query sees
all cached keys under a causal mask; `query_offset` overrides `S - T`.

`PositionMask`s depend on positions alone, are serializable and stand in layer configs.
`Padding` and `Dense` wrap run-time tensors and never do.
"""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.ops import _backend

Tensor = Any
Span = tuple[Any, Any]  # (start, size): Python ints, or scalar tensors inside a loop

EMPTY, PARTIAL, FULL = 0, 1, 2


class Window(NamedTuple):
    """A rectangle of the `(B, N, T, S)` scores.

    `offset` is added to query indices to give their positions.
    """

    batch: Span
    heads: Span
    queries: Span
    keys: Span
    offset: Any

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


class Mask:
    """Base of all masks. `a & b` allows what both allow, `a | b` what either does."""

    @property
    def serializable(self) -> bool:
        """Whether it can stand in a config."""
        return False

    def tile(self, window: Window) -> Tensor:
        """Boolean mask of `window`, broadcastable to its four sizes."""
        raise NotImplementedError

    def block_states(self, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """States of blocks, `(len(queries), len(keys))`.

        Args:
            queries: `(number, 2)`, first and last query position of each block.
            keys: `(number, 2)`, first and last key index of each block.
        """
        return np.full((len(queries), len(keys)), PARTIAL)

    def dense(
        self, query_length: Any, key_length: Any, query_offset: Any = None
    ) -> Tensor:
        """The whole mask, broadcastable to `(B, N, T, S)`."""
        if query_offset is None:
            query_offset = key_length - query_length
        return self.tile(
            Window(
                batch=(0, None),
                heads=(0, None),
                queries=(0, query_length),
                keys=(0, key_length),
                offset=query_offset,
            )
        )

    def tensors(self) -> tuple[Tensor, ...]:
        """The run-time tensors it stands on."""
        found: tuple[Tensor, ...] = ()
        for part in vars(self).values():
            if isinstance(part, Mask):
                found += part.tensors()
            elif ops.is_tensor(part):
                found += (part,)
        return found

    def with_tensors(self, tensors: Iterator[Tensor]) -> "Mask":
        """The same mask over the next of `tensors`, in the order of `tensors()`."""
        changed = copy.copy(self)
        for name, part in vars(self).items():
            if isinstance(part, Mask):
                setattr(changed, name, part.with_tensors(tensors))
            elif ops.is_tensor(part):
                setattr(changed, name, next(tensors))
        return changed

    def __and__(self, other: "Mask") -> "Mask":
        return And(self, other)

    def __or__(self, other: "Mask") -> "Mask":
        return Or(self, other)


# ------------------------------------------------------------------- position masks


class _Configured(Mask):
    """A mask made of plain values: compares, prints and serializes by its config."""

    def get_config(self) -> dict:
        return {}

    @classmethod
    def from_config(cls, config: dict) -> "_Configured":
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Configured)
            and type(self) is type(other)
            and self.get_config() == other.get_config()
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, str(self.get_config())))

    def __repr__(self) -> str:
        values = ", ".join(f"{k}={v!r}" for k, v in self.get_config().items())
        return f"{type(self).__name__}({values})"


class PositionMask(_Configured):
    """A mask that depends on query and key positions alone; serializable."""

    @property
    def serializable(self) -> bool:
        return True

    def allows(self, query: Any, key: Any) -> Any:
        """Whether position `query` may attend `key`; arrays or tensors broadcast."""
        raise NotImplementedError

    def tile(self, window: Window) -> Tensor:
        first_query, number_of_queries = window.queries
        first_key, number_of_keys = window.keys
        query = ops.arange(number_of_queries) + (first_query + window.offset)
        key = ops.arange(number_of_keys) + first_key
        return self.allows(query[:, None], key[None, :])[None, None]


@keras.saving.register_keras_serializable(package="keras_attention")
class Causal(PositionMask):
    """A query attends its own position and earlier ones: `j <= i`."""

    def allows(self, query, key):
        return key <= query

    def block_states(self, queries, keys):
        states = np.full((len(queries), len(keys)), PARTIAL)
        states[keys[None, :, 0] > queries[:, None, 1]] = EMPTY
        states[keys[None, :, 1] <= queries[:, None, 0]] = FULL
        return states


@keras.saving.register_keras_serializable(package="keras_attention")
class Local(PositionMask):
    """A query attends nearby positions: `|i - j| < window`, as `sliding_window` in
    Keras.

    With `Causal()` that is exactly `window` keys, without it `2 * window - 1`.

    Args:
        window: Number of positions, the query's own one included.
    """

    def __init__(self, window: int):
        self.window = positive_integer("window", window)

    def allows(self, query, key):
        return (key - query < self.window) & (query - key < self.window)

    def block_states(self, queries, keys):
        ahead = keys[None, :, :] - queries[:, None, ::-1]  # nearest, farthest key ahead
        nearest = np.maximum(ahead[..., 0], -ahead[..., 1])
        farthest = np.maximum(
            np.abs(keys[None, :, 1] - queries[:, None, 0]),
            np.abs(keys[None, :, 0] - queries[:, None, 1]),
        )
        states = np.full(nearest.shape, PARTIAL)
        states[nearest >= self.window] = EMPTY
        states[farthest < self.window] = FULL
        return states

    def get_config(self):
        return {"window": self.window}


# ------------------------------------------------------------------- run-time masks


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
            tile = tile & cut[:, None, None, :]
        if self.query_mask is not None:
            batch = _within(window.batch, self.query_mask)
            cut = window.cut(self.query_mask, batch, window.queries)
            tile = tile & cut[:, None, :, None]
        return tile


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
            mask = mask[None]
        self.mask = mask if rank == 4 else mask[:, None]

    def tile(self, window):
        batch = _within(window.batch, self.mask)
        heads = _within(window.heads, self.mask, axis=1)
        return window.cut(self.mask, batch, heads, window.queries, window.keys)


def _within(span: Span, tensor: Tensor, axis: int = 0) -> Span:
    """`span`, where size `None` means the whole axis of `tensor`."""
    start, size = span
    return (start, _backend.sizes(tensor)[axis]) if size is None else span


# ------------------------------------------------------------------- the algebra


class _Pair(_Configured):
    """Two masks joined; serializable when both are."""

    symbol: str

    def __init__(self, left: Mask, right: Mask):
        self.left, self.right = _deserialized(left), _deserialized(right)

    @property
    def serializable(self) -> bool:
        return self.left.serializable and self.right.serializable

    def get_config(self):
        return {"left": serialize(self.left), "right": serialize(self.right)}

    def __repr__(self):
        return f"({self.left!r} {self.symbol} {self.right!r})"


@keras.saving.register_keras_serializable(package="keras_attention")
class And(_Pair):
    """What both masks allow."""

    symbol = "&"

    def tile(self, window):
        return self.left.tile(window) & self.right.tile(window)

    def block_states(self, queries, keys):
        pair = (m.block_states(queries, keys) for m in (self.left, self.right))
        return np.minimum(*pair)


@keras.saving.register_keras_serializable(package="keras_attention")
class Or(_Pair):
    """What at least one mask allows."""

    symbol = "|"

    def tile(self, window):
        return self.left.tile(window) | self.right.tile(window)

    def block_states(self, queries, keys):
        pair = (m.block_states(queries, keys) for m in (self.left, self.right))
        return np.maximum(*pair)


# ------------------------------------------------------------------- conversions


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


def combine(*masks: Mask | None) -> Mask | None:
    """All given masks and-ed; `None` where there is none."""
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined


def serialize(mask: Mask | None) -> dict | None:
    """Config of a mask of positions; the reverse is `position_mask`."""
    return keras.saving.serialize_keras_object(position_mask(mask))


def _deserialized(mask: Any) -> Any:
    if isinstance(mask, dict):
        return keras.saving.deserialize_keras_object(mask)
    return mask


def position_mask(mask: Any) -> Mask | None:
    """The `mask` argument of a layer: a mask of positions, its config, or `None`.

    Raises:
        ValueError: for anything else, such as a mask that wraps a run-time tensor.
    """
    mask = _deserialized(mask)
    require(
        mask is None or (isinstance(mask, Mask) and mask.serializable),
        "`mask` of a layer must be a mask of positions, such as `masks.Local(128)`; "
        "pass run-time masks as `attention_mask` when calling the layer.",
        mask=mask,
    )
    return mask
