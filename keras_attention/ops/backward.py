"""The backward pass of the blockwise path: scores are computed again, tile by tile.

The formula stands in `blockwise.py`.
"""

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np
from keras import ops

from keras_attention.ops import _backend
from keras_attention.ops._backend import scan, sizes
from keras_attention.ops.masks import Order, Window
from keras_attention.ops.masks.windows import taken
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
from keras_attention.ops.problem import drop, promote
from keras_attention.ops.softmax import alive, hidden, softmax
from keras_attention.ops.tiling import Reading, Size

Tensor = Any


class _Upstream(NamedTuple):
    """What the backward pass knows of each row, in the order of a pass.

    The gradients are divided by the row's total once, here, instead of every score.
    """

    grad: Tensor
    delta: Tensor
    top: Tensor | None = None

    def taken(self, order: Order) -> "_Upstream":
        known = (None if x is None else taken(x, order.queries, 2) for x in self)
        return _Upstream(*known)


def backward(
    plan: Plan,
    output: Tensor,
    rows: Rows | None,
    sinks: tuple[Tensor, ...],
    upstream: Tensor,
    *tensors: Tensor,
) -> tuple:
    """Gradients of the sink, query, key, value, biases and weights."""
    # rowsum(O * dO) equals rowsum(P * dP) and is all the backward pass needs of O.
    grad = ops.cast(upstream, plan.sum_dtype)
    delta = ops.sum(ops.cast(output, plan.sum_dtype) * grad, axis=-1, keepdims=True)
    dtype = promote(upstream).dtype
    if rows is None:
        known = _Upstream(ops.cast(grad, dtype), delta)
    else:
        grad, delta = grad / rows.divisor, delta / rows.divisor
        known = _Upstream(ops.cast(grad, dtype), delta, rows.top)
    totals: Any = None
    for work in Work.each(plan, *tensors):
        found = _pass_gradient(work, known.taken(work.order))
        totals = found if totals is None else map(ops.add, totals, found)
        totals = tuple(totals)
    # A sink scores like any key; its value is 0, and so is its dP.
    drawn = (
        -ops.sum(ops.exp(of_heads(sink, delta) - known.top) * known.delta, (0, 2, 3))
        for sink in sinks
    )
    pairs = zip((*drawn, *totals), (*sinks, *tensors), strict=True)
    return tuple(ops.cast(grad, x.dtype) for grad, x in pairs)


def _pass_gradient(work: Work, known: _Upstream) -> tuple:
    """Gradients of query, key, value, biases and weights, in natural order."""
    plan, order = work.plan, work.order
    lengths = plan.query_length, plan.key_length
    own = (*work.biases, *work.weights)
    shared = tuple(ops.zeros(sizes(x), dtype=plan.sum_dtype) for x in own)

    def group_step(shared, group):
        return _group_gradient(work, known, shared, group)

    emits = tuple(
        row_spec(work, sizes(x)[2], x.shape[-1])
        for x in (work.query, work.key, work.value)
    )
    shared, stacked = scan(group_step, shared, work.groups, emits)
    query, key, value = (as_heads(plan, x) for x in stacked)
    biases = (
        _restored_pairs(grad, bias, order, lengths)
        for grad, bias in zip(shared, work.biases, strict=False)
    )
    return (
        restored(query, order.queries, lengths[0], 2, 0.0),
        restored(key, order.keys, lengths[1], 2, 0.0),
        restored(value, order.keys, lengths[1], 2, 0.0),
        *biases,
        *shared[len(work.biases) :],
    )


def _restored_pairs(grad: Tensor, bias: Tensor, order: Order, lengths: tuple) -> Tensor:
    """The gradient of a bias in natural order; axes of size 1 were never reordered."""
    for axis, indices, length in zip((2, 3), order, lengths, strict=True):
        if bias.shape[axis] != 1:
            grad = restored(grad, indices, length, axis, 0.0)
    return grad


def _group_gradient(
    work: Work, known: _Upstream, shared: tuple, group: Tensor
) -> tuple:
    """Gradients of one group of batch rows and heads: a loop over its tiles."""
    key_length = sizes(work.key)[2]
    key_grads: list[Tensor] = []
    value_grads: list[Tensor] = []
    query_rows = []
    query_size = work.query.shape[-1]
    for segment in work.segments:
        if segment.is_empty:
            query_rows.append(nothing(work, segment, (query_size, 1, 1))[0])
            continue
        shared_keys = work.shared_keys(segment, group)
        pair = (work.key, work.value)
        width = segment.width if segment.starts is None else key_length
        reading = segment.reading
        sums: tuple = () if reading else tuple(_zeros(work, width, x) for x in pair)

        def tile_step(carry, tile, segment=segment, shared_keys=shared_keys):
            return _tile_gradient(work, segment, shared_keys, known, carry, group, tile)

        sizes_of = (query_size, *(x.shape[-1] for x in pair))
        lengths = (segment.rows, segment.width, segment.width)
        specs = [row_spec(work, n, h) for n, h in zip(lengths, sizes_of, strict=True)]
        (sums, shared), (tiles, *parts) = scan(
            tile_step,
            (sums, shared),
            segment.tiles,
            tuple(specs if reading else specs[:1]),
            after=(*key_grads[-1:], *value_grads[-1:]),
        )
        if reading is not None:
            sums = tuple(_summed_over_tiles(x, reading) for x in parts)
        query_rows.append(as_rows(tiles))
        key_grads.append(sums[0])
        value_grads.append(sums[1])
    return shared, (
        ops.concatenate(query_rows, axis=2),
        _summed(work, key_grads, key_length, work.key),
        _summed(work, value_grads, key_length, work.value),
    )


def _zeros(work: Work, length: Size, like: Tensor) -> Tensor:
    shape = (work.batch_rows, work.heads, length, like.shape[-1])
    return ops.zeros(shape, work.plan.sum_dtype)


def _summed(work: Work, parts: list[Tensor], length: Size, like: Tensor) -> Tensor:
    """The sum of parts `(b, n, width, H)` that begin at the first of `length` keys."""
    if parts and not _backend.is_static(length):  # then each has all of them
        return functools.reduce(ops.add, parts)
    columns = []
    widths = {part.shape[2] for part in parts}
    for begin, end in itertools.pairwise(sorted({0, *widths})):
        seen = [part[:, :, begin:end] for part in parts if part.shape[2] >= end]
        columns.append(functools.reduce(ops.add, seen))
    if length not in widths:
        columns.append(_zeros(work, length - max(widths, default=0), like))
    return columns[0] if len(columns) == 1 else ops.concatenate(columns, axis=2)


def _summed_over_tiles(parts: Tensor, reading: Reading) -> Tensor:
    """Gradients of the keys from those of each tile, `(tiles, b, n, width, H)`.

    To add a tile's part to all keys would copy them once a tile.
    """
    _, batch_rows, heads, _, size = parts.shape
    parts = ops.transpose(parts, (1, 2, 0, 3, 4))
    parts = ops.reshape(parts, (batch_rows * heads, -1, reading.run * size))
    total: Any = 0.0
    for places in reading.table:
        read = ops.take(parts, np.maximum(places, 0), axis=1)
        if (places < 0).any():
            read = ops.where((places >= 0)[None, :, None], read, ops.zeros_like(read))
        total = total + read
    return ops.reshape(total, (batch_rows, heads, -1, size))


def _tile_gradient(work, segment, shared_keys, known, carry, group, tile):
    plan = work.plan
    sums, shared = carry
    window = work.window(segment, group, tile)
    key, value = shared_keys or work.keys(window)
    value = promote(value)
    query, grad, delta = (
        cut_rows(window, x, window.queries) for x in (work.query, *known[:2])
    )

    logits, pull_back = _backend.vjp(work.logits, query, key, *work.weights)
    mask = work.mask_tile(segment, window)
    scores = _tile_scores(work, window, mask, logits, known.top)
    grad = alive(grad, mask)
    score_grad = _backend.matmul_transposed(grad, value)
    score_grad = ops.cast(score_grad, plan.sum_dtype)
    keep = work.keep(window, group)
    dropped = scores
    if keep is not None:
        dropped = drop(scores, keep, plan.problem.dropout)
        score_grad = drop(score_grad, keep, plan.problem.dropout)
    dropped = ops.swapaxes(ops.cast(dropped, value.dtype), -1, -2)
    value_grad = ops.matmul(dropped, grad)
    logit_grad = scores * (score_grad - delta)
    query_grad, key_grad, *w_grads = pull_back(ops.cast(logit_grad, logits.dtype))

    shared = _add_shared(work, window, shared, logit_grad, w_grads)
    query_grad, key_grad, value_grad = (
        ops.cast(x, plan.sum_dtype) for x in (query_grad, key_grad, value_grad)
    )
    if segment.reading is not None:
        return ((), shared), (query_grad, key_grad, value_grad)
    start = (0, 0, 0 if segment.starts is None else window.keys[0], 0)
    key_sum = _accumulate(sums[0], start, key_grad)
    value_sum = _accumulate(sums[1], start, value_grad)
    return ((key_sum, value_sum), shared), (query_grad,)


def _tile_scores(
    work: Work,
    window: Window,
    mask: Tensor | None,
    logits: Tensor,
    top: Tensor | None,
) -> Tensor:
    """The scores of a tile; with `top` they are not yet divided by the totals."""
    logits = hidden(work.biased(window, logits), mask)
    if top is None:
        return softmax(logits)
    return ops.exp(logits - cut_rows(window, top, window.queries))


def _accumulate(total: Tensor, start: tuple, update: Tensor) -> Tensor:
    return _backend.add_to_slice(total, start, ops.cast(update, total.dtype))


def _add_shared(work, window, shared, logit_grad, w_grads):
    """Add a tile's part to the gradients of bias and score weights."""
    totals = list(shared)
    for index, bias in enumerate(work.biases):
        spans = window[:4]
        whole = [_backend.is_static(s) and s == 1 for s in sizes(bias)]
        axes = tuple(axis for axis, one in enumerate(whole) if one)
        part = ops.sum(logit_grad, axis=axes, keepdims=True) if axes else logit_grad
        start = tuple(0 if one else s[0] for one, s in zip(whole, spans, strict=True))
        totals[index] = _accumulate(totals[index], start, part)
    for index, grad in enumerate(w_grads, start=len(work.biases)):
        totals[index] = totals[index] + ops.cast(grad, totals[index].dtype)
    return tuple(totals)
