"""Softmax attention without the `T x S` matrix: exact, any score, any mask, any bias.

The scores are cut into tiles that are computed one after the other; a tile holds whole
rows of its pass (an online softmax costs more until a row outgrows the cache), and the
few passes of a union of masks are merged at the end. The backward pass (`backward.py`)
keeps inputs and output, after a merge two numbers per row too: it recomputes the scores
`P` of a tile and uses

    dS = P * (dO V^T - rowsum(O * dO)),    d(query, key, weights) = score's VJP of dS

(Rabe and Staats 2021, arXiv:2112.05682; Dao et al. 2022, arXiv:2205.14135, algorithm
4). Time `O(T S H)` less what the mask leaves empty; memory `O(tile + (T + S) H)`.

Everything here is heads-first: query `(B, N, T, H)`, key `(B, N, S, H)`, value
`(B, N, S, V)`.
"""

import functools
from typing import Any

from keras import ops

from keras_attention.ops import _backend
from keras_attention.ops._backend import scan, sizes
from keras_attention.ops.backward import backward
from keras_attention.ops.passes import (
    Plan,
    Rows,
    Work,
    as_heads,
    as_rows,
    cut_rows,
    nothing,
    of_heads,
    restored,
    row_spec,
)
from keras_attention.ops.problem import Problem, drop, promote
from keras_attention.ops.softmax import LOWEST, alive, hidden, softmax
from keras_attention.ops.tiling import Segment

Tensor = Any


def blockwise(
    problem: Problem,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    weights: tuple[Tensor, ...],
    sink: Tensor | None = None,
) -> Tensor:
    """Attention output `(B, N, T, V)`; differentiable in every tensor given."""
    biases = () if bias is None else (bias,)
    held = problem.tensors()
    given = held if sink is None else (*held, sink)
    start = len(given)

    @ops.custom_gradient
    def attend(*tensors):
        # The gradient is below.
        tensors = tuple(_backend.untaped(x) for x in tensors)
        fixed, sinks = tensors[: len(held)], tensors[len(held) : start]
        tensors = tensors[start:]
        own, counts = problem.with_tensors(fixed), (len(biases), len(sinks))
        plan = Plan.of(own, tensors[0], tensors[1], *counts)
        output, rows = _forward(plan, sinks, *tensors)
        kept = _backend.untaped(output)

        def gradient(*args, upstream=None):
            # TensorFlow and JAX pass the upstream gradient by position.
            upstream = args[0] if upstream is None else upstream
            grads = backward(plan, kept, rows, sinks, upstream, *tensors)
            grads = tuple(_backend.differentiable_once(x) for x in grads)
            return (*[None] * len(held), *grads)

        return output, gradient

    return attend(*given, query, key, value, *biases, *weights)


def _forward(
    plan: Plan,
    sinks: tuple[Tensor, ...],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *rest: Tensor,
) -> tuple[Tensor, Rows | None]:
    """The output, and the softmax of every row unless its tile has all of it."""
    parts = [_pass_output(work) for work in Work.each(plan, query, key, value, *rest)]
    if plan.is_alone:
        return ops.cast(parts[0][0], value.dtype), None
    sums, rows = _merged(parts)
    for sink in sinks:
        sums, rows = _with_sink(sums, rows, of_heads(sink, sums))
    return ops.cast(sums / rows.divisor, value.dtype), rows


def _merged(parts: list) -> tuple[Tensor, Rows]:
    """Sums over values, and the softmax of every row, over all passes."""
    top = functools.reduce(ops.maximum, [part[1] for part in parts])
    factors = [ops.exp(part[1] - top) for part in parts]
    pairs = list(zip(parts, factors, strict=True))
    sums = functools.reduce(ops.add, [part[0] * factor for part, factor in pairs])
    total = functools.reduce(ops.add, [part[2] * factor for part, factor in pairs])
    return sums, Rows(top, total)


def _with_sink(sums: Tensor, rows: Rows, sink: Tensor) -> tuple[Tensor, Rows]:
    """Each row with one more key of logit `sink` `(N, 1, 1)`, whose value is 0."""
    top = ops.maximum(rows.top, sink)
    factor = ops.exp(rows.top - top)
    return sums * factor, Rows(top, rows.total * factor + ops.exp(sink - top))


def _pass_output(work: Work) -> tuple[Tensor, ...]:
    """Sums over values, and unless they are final tops and totals, in natural order."""
    plan, value_size = work.plan, work.value.shape[-1]
    sizes_of = (value_size,) if plan.is_alone else (value_size, 1, 1)

    def group_output(carry, group):
        columns: list = []
        for segment in work.segments:
            if segment.is_empty:
                columns.append(nothing(work, segment, sizes_of))
                continue
            shared = work.shared_keys(segment, group)
            specs = tuple(row_spec(work, segment.rows, size) for size in sizes_of)

            def tile_step(carry, tile, segment=segment, shared=shared):
                return carry, _tile_output(work, segment, shared, group, tile)

            before = tuple(x for column in columns[-1:] for x in column)
            _, tiles = scan(tile_step, (), segment.tiles, specs, before)
            columns.append([as_rows(x) for x in tiles])
        rows = zip(*columns, strict=True)
        return carry, tuple(ops.concatenate(list(x), axis=2) for x in rows)

    length = sizes(work.query)[2]
    specs = tuple(row_spec(work, length, size) for size in sizes_of)
    _, groups = scan(group_output, (), work.groups, specs)
    rows, fills = (as_heads(plan, x) for x in groups), (0.0, LOWEST, 0.0)
    return tuple(
        restored(x, work.order.queries, plan.query_length, 2, fill)
        for x, fill in zip(rows, fills, strict=False)
    )


def _tile_output(
    work: Work,
    segment: Segment,
    shared: tuple[Tensor, Tensor] | None,
    group: Tensor,
    tile: Tensor,
) -> tuple:
    window = work.window(segment, group, tile)
    query = cut_rows(window, work.query, window.queries)
    key, value = shared or work.keys(window)
    logits = work.biased(window, work.logits(query, key, *work.weights))
    mask = work.mask_tile(segment, window)
    keep = work.keep(window, group)
    if work.plan.is_alone:
        # One kernel in TensorFlow, where the same in parts is several.
        sums = _weighted(work, softmax(hidden(logits, mask)), keep, value)
        return (alive(sums, mask),)
    logits = hidden(logits, mask)
    top = ops.max(logits, axis=-1, keepdims=True)
    if mask is not None:  # so that hidden logits of a row without others vanish too
        top = ops.maximum(top, LOWEST / 10)
    scores = ops.exp(logits - top)
    total = ops.sum(scores, axis=-1, keepdims=True)
    sums = _weighted(work, scores, keep, value)
    return (sums, *(ops.cast(x, work.plan.sum_dtype) for x in (top, total)))


def _weighted(work: Work, scores: Tensor, keep: Tensor | None, value: Tensor) -> Tensor:
    """Sums of the values by the scores that are kept."""
    if keep is not None:
        scores = drop(scores, keep, work.plan.problem.dropout)
    value = promote(value)
    sums = ops.matmul(ops.cast(scores, value.dtype), value)
    return ops.cast(sums, work.plan.sum_dtype)
