"""The plan of one call, and its passes with their inputs, cut into tiles."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from keras_attention.ops import _backend, tiling
from keras_attention.ops._backend import Spec, sizes
from keras_attention.ops.masks import Mask, Order, Window
from keras_attention.ops.masks.windows import taken
from keras_attention.ops.problem import Problem, add_bias, promote
from keras_attention.ops.scores import is_pairwise
from keras_attention.ops.softmax import LOWEST, at_least_float32
from keras_attention.ops.tiling import Pass, Segment, Size

Tensor = Any


class Rows(NamedTuple):
    """The softmax of each row: `exp(logits - top) / total`, both `(B, N, T, 1)`.

    A row with nothing to attend has the total 0. Kept apart, since `top + log(total)`
    would lose the total beside a top of `-1e30`, which a bias can make.
    """

    top: Tensor
    total: Tensor

    @property
    def divisor(self) -> Tensor:
        """The total, or 1 for a row with nothing to attend."""
        return ops.where(self.total > 0, self.total, ops.ones_like(self.total))


@dataclass(frozen=True)
class Plan:
    """The tiling of one problem."""

    problem: Problem
    passes: list[Pass]
    batch: Any
    num_heads: int
    per_logit: int  # elements that one logit takes: H for a score of pairs
    query_length: Any
    key_length: Any
    biases: int  # 0 or 1
    is_alone: bool  # one pass and no sink: a tile's softmax is final
    sum_dtype: str  # gradients are summed over tiles in at least float32

    @classmethod
    def of(
        cls,
        problem: Problem,
        query: Tensor,
        key: Tensor,
        biases: int,
        sinks: int = 0,
    ) -> "Plan":
        batch, num_heads, query_length, head_size = sizes(query)
        key_length = sizes(key)[2]
        per_logit = head_size if is_pairwise(problem.score) else 1
        passes = tiling.plan(
            query_length, key_length, problem.mask, problem.offset, per_logit
        )
        is_double = keras.backend.standardize_dtype(query.dtype) == "float64"
        return cls(
            problem=problem,
            passes=passes,
            batch=batch,
            num_heads=num_heads,
            per_logit=per_logit,
            query_length=query_length,
            key_length=key_length,
            biases=biases,
            is_alone=len(passes) == 1 and not sinks,
            sum_dtype="float64" if is_double else "float32",
        )


@dataclass(frozen=True)
class Work:
    """One pass with its inputs in the pass's order."""

    plan: Plan
    number: int
    batch_rows: int  # of one tile; more than 1 only with all heads
    heads: int  # of one tile
    segments: list[Segment]
    order: Order
    mask: Mask | None
    query: Tensor
    key: Tensor
    value: Tensor
    biases: tuple[Tensor, ...]
    weights: tuple[Tensor, ...]

    @classmethod
    def each(
        cls, plan: Plan, query: Tensor, key: Tensor, value: Tensor, *rest: Tensor
    ) -> "Iterator[Work]":
        """The passes of a plan."""
        biases, weights = rest[: plan.biases], rest[plan.biases :]
        for number, each in enumerate(plan.passes):
            mask, order, segments = each
            batch_rows, heads = tiling.shared_by(
                plan.batch, plan.num_heads, each.widest * plan.per_logit
            )
            yield cls(
                plan=plan,
                number=number,
                batch_rows=batch_rows,
                heads=heads,
                segments=segments,
                order=order,
                mask=None if mask is None else mask.reordered(order),
                query=taken(query, order.queries, 2),
                key=taken(key, order.keys, 2),
                value=taken(value, order.keys, 2),
                biases=tuple(
                    taken(taken(bias, order.queries, 2), order.keys, 3)
                    for bias in biases
                ),
                weights=weights,
            )

    @property
    def groups(self) -> Any:
        """Number of (batch rows, heads) that are computed together."""
        return self.plan.batch // self.batch_rows * (self.plan.num_heads // self.heads)

    def window(self, segment: Segment, group: Tensor, tile: Tensor) -> Window:
        """The rectangle of scores that `tile` of `segment` covers."""
        heads, batch_rows = self.heads, self.batch_rows
        groups_of_row = self.plan.num_heads // heads
        start = 0
        if segment.starts is not None:
            starts = ops.convert_to_tensor(segment.starts, dtype="int32")
            start = ops.take(starts, tile)
        return Window(
            batch=(group // groups_of_row * batch_rows, batch_rows),
            heads=(group % groups_of_row * heads, heads),
            queries=(segment.first_row + tile * segment.rows, segment.rows),
            keys=(start, segment.width),
            offset=self.plan.problem.offset,
            order=self.order,
        )

    def keep(self, window: Window, group: Tensor) -> Tensor | None:
        """The dropout mask of a tile, the same in the forward and backward pass."""
        problem = self.plan.problem
        if not problem.dropout:
            return None
        # Tiles of one group start at different rows: these three name a tile.
        index = self.number * self.plan.batch * self.plan.num_heads + group
        index = index * _MAX_ROWS + window.queries[0]
        shape = tuple(size for _, size in window[:4])
        return _backend.keep_mask(problem.seed, index, shape, problem.dropout)

    def logits(self, query: Tensor, key: Tensor, *weights: Tensor) -> Tensor:
        """The score, with float16 products taken in float32."""
        score = self.plan.problem.score
        return score(*(promote(x) for x in (query, key, *weights)))

    def keys(self, window: Window) -> tuple[Tensor, Tensor]:
        """Key and value of a tile."""
        return (
            cut_rows(window, self.key, window.keys),
            cut_rows(window, self.value, window.keys),
        )

    def shared_keys(
        self, segment: Segment, group: Tensor
    ) -> tuple[Tensor, Tensor] | None:
        """Those of every tile of a segment that all start at the first key."""
        if segment.starts is not None:
            return None
        return self.keys(self.window(segment, group, 0))

    def biased(self, window: Window, logits: Tensor) -> Tensor:
        """The logits of a tile with its bias, in at least float32."""
        logits = at_least_float32(logits)
        for bias in self.biases:
            logits = add_bias(logits, window.cut(bias, *window[:4]))
        return logits

    def mask_tile(self, segment: Segment, window: Window) -> Tensor | None:
        return (
            None if self.mask is None or not segment.masked else self.mask.tile(window)
        )


_MAX_ROWS = 1 << 16  # longer sequences reuse dropout seeds of the next group


def cut_rows(window: Window, tensor: Tensor, rows: Any) -> Tensor:
    """Rows `(start, size)` of a `(B, N, L, H)` tensor, all features."""
    features = (0, sizes(tensor)[-1])
    return window.cut(tensor, window.batch, window.heads, rows, features)


# ------------------------------------------------------------------- rows of results


def restored(rows: Tensor, order: Any, length: Size, axis: int, fill: float) -> Tensor:
    """Undo `taken`: what stood in `order` at its natural places, `fill` elsewhere."""
    if order is None:
        return rows
    place = np.full(length, len(order), "int32")
    place[order] = np.arange(len(order))
    if len(order) < length:
        one = ops.full_like(ops.take(rows, np.array([0]), axis=axis), fill)
        rows = ops.concatenate([rows, one], axis=axis)
    return ops.take(rows, place, axis=axis)


def of_heads(sink: Tensor, like: Tensor) -> Tensor:
    """A sink `(N,)` beside rows `(B, N, T, 1)`, in their dtype."""
    return ops.cast(sink, like.dtype)[:, None, None]


def nothing(work: Work, segment: Segment, sizes_of: tuple) -> list[Tensor]:
    """What tiles that see no key give."""
    shape = (work.batch_rows, work.heads, segment.rows * segment.tiles)
    fills = (0.0, LOWEST, 0.0)
    return [
        ops.full((*shape, size), fill, dtype=work.plan.sum_dtype)
        for size, fill in zip(sizes_of, fills, strict=False)
    ]


def row_spec(work: Work, rows: Any, size: int) -> Spec:
    """What a tile, or a group, gives for each of its rows."""
    shape = (work.batch_rows, work.heads, _static(rows), size)
    return Spec(shape, work.plan.sum_dtype)


def _static(size: Any) -> int | None:
    return size if _backend.is_static(size) else None


def as_rows(tiles: Tensor) -> Tensor:
    """Stacked tiles `(tiles, b, n, rows, V)` as `(b, n, tiles * rows, V)`."""
    count, batch_rows, heads, rows, width = sizes(tiles)
    return ops.reshape(
        ops.transpose(tiles, (1, 2, 0, 3, 4)), (batch_rows, heads, count * rows, width)
    )


def as_heads(plan: Plan, groups: Tensor) -> Tensor:
    """Stacked groups `(groups, b, n, L, V)` as `(B, N, L, V)`: b > 1 has all heads."""
    _, _, _, length, width = sizes(groups)
    return ops.reshape(groups, (plan.batch, plan.num_heads, length, width))
