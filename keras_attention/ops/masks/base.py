"""What a mask is, and how the blockwise engine asks it.

A mask is a small object that combines with `&`, `|` and `~` and answers:

- `tile(window)`: the boolean mask of a rectangle of the `(B, N, T, S)` scores,
  True = may attend. The whole rectangle is the dense mask, the reference of the tests.
- `block_states(queries, keys)`: which blocks of queries x keys are `EMPTY`, `PARTIAL`
  or `FULL`, as far as that is known before run time (otherwise `PARTIAL`). The
  blockwise engine never computes what is `EMPTY`.
- `terms()` and `orders(...)`: masks it is the union of, and orders of the sequence in
  which what may be attended lies together. The engine takes them where they spare work.

Query `i` stands at position `i + (S - T)` (aligned to the end), so one new query sees
all cached keys under a causal mask; `query_offset` overrides `S - T`.
"""

import copy
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.errors import require
from keras_attention.ops.masks.windows import FULL, PARTIAL, Blocks, Order, Window

Tensor = Any


class Mask:
    """Base of all masks.

    `a & b` allows what both allow, `a | b` what either does, `~a` what `a` does not.
    """

    @property
    def serializable(self) -> bool:
        """Whether it can stand in a config."""
        return False

    def tile(self, window: Window) -> Tensor:
        """Boolean mask of `window`, broadcastable to its four sizes."""
        raise NotImplementedError

    def block_states(self, queries: Blocks, keys: Blocks) -> np.ndarray:
        """States of blocks, `(len(queries), len(keys))`."""
        return np.full((len(queries), len(keys)), PARTIAL)

    def terms(self) -> list["Mask"]:
        """Masks whose union this is, each better planned alone than all together."""
        return [self]

    def orders(self, query_positions: np.ndarray, key_length: int) -> list[Order]:
        """Orders in which what may be attended lies together."""
        return []

    def tile_rows(self, rows: int) -> int:
        """How tall a tile may be, at most `rows`, to see few keys."""
        return rows

    def reordered(self, order: Order) -> "Mask":
        """The same mask, its run-time tensors in another order."""
        return self

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

    def __invert__(self) -> "Mask":
        return Not(self)


class Configured(Mask):
    """A mask made of plain values: compares, prints and serializes by its config."""

    def get_config(self) -> dict:
        return {}

    @classmethod
    def from_config(cls, config: dict) -> "Configured":
        return cls(**config)

    def _identity(self) -> tuple:
        """What makes two masks of one type equal."""
        return tuple(self.get_config().items())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Configured)
            and type(self) is type(other)
            and self._identity() == other._identity()
        )

    def __hash__(self) -> int:
        return hash((type(self), str(self._identity())))

    def __repr__(self) -> str:
        values = ", ".join(f"{k}={v!r}" for k, v in self.get_config().items())
        return f"{type(self).__name__}({values})"


# ------------------------------------------------------------------------ the algebra


class _Pair(Configured):
    """Two masks joined; serializable when both are."""

    symbol: str

    def __init__(self, left: Mask, right: Mask):
        self.left, self.right = _part(left), _part(right)

    @property
    def serializable(self) -> bool:
        return self.left.serializable and self.right.serializable

    def tile_rows(self, rows):
        return min(self.left.tile_rows(rows), self.right.tile_rows(rows))

    def reordered(self, order):
        return type(self)(self.left.reordered(order), self.right.reordered(order))

    def _identity(self):
        return self.left, self.right

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

    def terms(self):
        left, right = self.left.terms(), self.right.terms()
        if len(left) == len(right) == 1:
            return [self]
        return [a & b for a in left for b in right]

    def orders(self, query_positions, key_length):
        return [
            order
            for part in (self.left, self.right)
            for order in part.orders(query_positions, key_length)
        ]


@keras.saving.register_keras_serializable(package="keras_attention")
class Or(_Pair):
    """What at least one mask allows."""

    symbol = "|"

    def tile(self, window):
        return self.left.tile(window) | self.right.tile(window)

    def block_states(self, queries, keys):
        pair = (m.block_states(queries, keys) for m in (self.left, self.right))
        return np.maximum(*pair)

    def terms(self):
        return [*self.left.terms(), *self.right.terms()]


@keras.saving.register_keras_serializable(package="keras_attention")
class Not(Configured):
    """What a mask does not allow."""

    def __init__(self, mask: Mask):
        self.mask = _part(mask)

    def _identity(self):
        return (self.mask,)

    @property
    def serializable(self) -> bool:
        return self.mask.serializable

    def tile(self, window):
        return ~self.mask.tile(window)

    def block_states(self, queries, keys):
        return FULL - self.mask.block_states(queries, keys)

    def reordered(self, order):
        return Not(self.mask.reordered(order))

    def get_config(self):
        return {"mask": serialize(self.mask)}

    def __repr__(self):
        return f"~{self.mask!r}"


def combine(*masks: Mask | None) -> Mask | None:
    """All given masks and-ed; `None` where there is none."""
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined


# ---------------------------------------------------------------------------- configs


def serialize(mask: Mask | None) -> dict | None:
    """Config of a mask of positions; the reverse is `position_mask`."""
    return keras.saving.serialize_keras_object(position_mask(mask))


def _part(mask: Any) -> Mask:
    """A mask to combine, or its config."""
    mask = _deserialized(mask)
    require(
        isinstance(mask, Mask),
        "Masks combine with masks; wrap a tensor in `masks.Dense`.",
        mask=type(mask).__name__,
    )
    return mask


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
