"""Softmax attention without the `T x S` matrix: exact, any score, any mask, any bias.

The scores are cut into tiles that are computed one after the other; a tile holds whole
rows, so its softmax is final (three kernels; an online softmax costs more until a row
outgrows the cache). The backward pass keeps nothing but inputs and output: it
recomputes the scores `P` of a tile and uses

    dS = P * (dO V^T - rowsum(O * dO)),    d(query, key, weights) = score's VJP of dS

(Rabe and Staats 2021, arXiv:2112.05682; Dao et al. 2022, arXiv:2205.14135, algorithm
4). Time `O(T S H)` less what the mask leaves empty; memory `O(tile + (T + S) H)`.

Everything here is heads-first: query `(B, N, T, H)`, key `(B, N, S, H)`, value
`(B, N, S, V)`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import keras
from keras import ops

from keras_attention.ops import _backend, tiling
from keras_attention.ops._backend import Spec, scan, sizes
from keras_attention.ops.masks import Mask, Window
from keras_attention.ops.scores import Score, is_pairwise
from keras_attention.ops.softmax import at_least_float32, masked_softmax
from keras_attention.ops.tiling import Segment

Tensor = Any


@dataclass(frozen=True)
class Problem:
    """What is fixed in one call: everything but the differentiated tensors."""

    score: Score
    mask: Mask | None
    offset: Any  # query position = query index + offset
    dropout: float
    seed: Tensor | None

    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors in here, which JAX must see as arguments inside a `scan`."""
        held = () if self.mask is None else self.mask.tensors()
        return (*held, *(x for x in (self.offset, self.seed) if ops.is_tensor(x)))

    def with_tensors(self, tensors: Iterable[Tensor]) -> "Problem":
        """The same problem over other tensors, in the order of `tensors()`."""
        given = iter(tensors)
        mask = None if self.mask is None else self.mask.with_tensors(given)
        offset, seed = (
            next(given) if ops.is_tensor(x) else x for x in (self.offset, self.seed)
        )
        return replace(self, mask=mask, offset=offset, seed=seed)


def blockwise(
    problem: Problem,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    weights: tuple[Tensor, ...],
) -> Tensor:
    """Attention output `(B, N, T, V)`; differentiable in every tensor given."""
    biases = () if bias is None else (bias,)
    held = problem.tensors()

    @ops.custom_gradient
    def attend(*tensors):
        # Eager TensorFlow would tape every tile; the gradient is below.
        tensors = tuple(ops.stop_gradient(x) for x in tensors)
        tensors, fixed = tensors[len(held) :], tensors[: len(held)]
        plan = _Plan.of(problem.with_tensors(fixed), *tensors[:2], len(biases))
        output = _forward(plan, *tensors)
        kept = ops.stop_gradient(output)  # PyTorch: no cycle through `output`

        def gradient(*args, upstream=None):
            # TensorFlow and JAX pass the upstream gradient by position.
            upstream = args[0] if upstream is None else upstream
            grads = _backward(plan, kept, upstream, *tensors)
            return (*[None] * len(held), *grads)

        return output, gradient

    return attend(*held, query, key, value, *biases, *weights)


@dataclass(frozen=True)
class _Plan:
    """The tiling of one problem."""

    problem: Problem
    segments: list[Segment]
    batch: Any
    num_heads: int
    heads: int  # of one tile
    rows: int  # of one tile
    key_length: Any
    biases: int  # 0 or 1
    sum_dtype: str  # gradients are summed over tiles in at least float32

    @classmethod
    def of(
        cls,
        problem: Problem,
        query: Tensor,
        key: Tensor,
        biases: int,
    ) -> "_Plan":
        batch, num_heads, query_length, head_size = sizes(query)
        key_length = sizes(key)[2]
        per_logit = head_size if is_pairwise(problem.score) else 1
        heads, rows = tiling.tile_shape(num_heads, query_length, key_length, per_logit)
        segments = tiling.segments(
            query_length, key_length, rows, problem.mask, problem.offset
        )
        is_double = keras.backend.standardize_dtype(query.dtype) == "float64"
        return cls(
            problem=problem,
            segments=segments,
            batch=batch,
            num_heads=num_heads,
            heads=heads,
            rows=rows,
            key_length=key_length,
            biases=biases,
            sum_dtype="float64" if is_double else "float32",
        )

    @property
    def groups(self) -> Any:
        """Number of (batch row, head group) pairs."""
        return self.batch * (self.num_heads // self.heads)

    def window(self, segment: Segment, group: Tensor, tile: Tensor) -> Window:
        """The rectangle of scores that `tile` of `segment` covers."""
        groups_of_row = self.num_heads // self.heads
        start = 0
        if segment.starts is not None:
            starts = ops.convert_to_tensor(segment.starts, dtype="int32")
            start = ops.take(starts, tile)
        return Window(
            batch=(group // groups_of_row, 1),
            heads=(group % groups_of_row * self.heads, self.heads),
            queries=(segment.first_row + tile * segment.rows, segment.rows),
            keys=(start, segment.width),
            offset=self.problem.offset,
        )

    def keep(self, window: Window, group: Tensor) -> Tensor | None:
        """The dropout mask of a tile, the same in the forward and backward pass."""
        problem = self.problem
        if not problem.dropout:
            return None
        # Tiles of one group start at different rows: (group, first row) names a tile.
        index = group * _MAX_ROWS + window.queries[0]
        shape = (1, self.heads, window.queries[1], window.keys[1])
        return _backend.keep_mask(problem.seed, index, shape, problem.dropout)


_MAX_ROWS = 1 << 16  # longer sequences reuse dropout seeds of the next group


def _cut_rows(window: Window, tensor: Tensor, rows: Any) -> Tensor:
    """Rows `(start, size)` of a `(B, N, L, H)` tensor, all features."""
    features = (0, sizes(tensor)[-1])
    return window.cut(tensor, window.batch, window.heads, rows, features)


def _cut_inputs(
    window: Window, query: Tensor, key: Tensor, value: Tensor, biases: tuple
) -> tuple:
    return (
        _cut_rows(window, query, window.queries),
        _cut_rows(window, key, window.keys),
        _cut_rows(window, value, window.keys),
        tuple(window.cut(bias, *window[:4]) for bias in biases),
    )


def _logits(score: Score) -> Callable[..., Tensor]:
    """`score` with float16 products taken in float32."""

    def compute(query: Tensor, key: Tensor, *weights: Tensor) -> Tensor:
        return score(*(promote(x) for x in (query, key, *weights)))

    return compute


def promote(x: Tensor) -> Tensor:
    """float16 becomes float32; query-key products would overflow there."""
    is_half = keras.backend.standardize_dtype(x.dtype) == "float16"
    return ops.cast(x, "float32") if is_half else x


def _tile_scores(logits: Tensor, bias: tuple, mask_tile: Tensor | None) -> Tensor:
    for b in bias:
        logits = add_bias(logits, b)
    return masked_softmax(logits, mask_tile)


def add_bias(logits: Tensor, bias: Tensor) -> Tensor:
    """Logits plus bias in at least float32.

    The bias is spelled out for every row on purpose: TensorFlow 2.21's graph optimizer
    fuses a batched product and the addition of a `(1, 1, 1, S)` bias into a oneDNN
    kernel that, inside a loop, returns empty tensors without an error.
    """
    logits = at_least_float32(logits)
    # -inf would make a row of NaN; float16 turns large numbers into it.
    bias = ops.maximum(ops.cast(bias, logits.dtype), -1e30)
    if bias.shape[-2] == 1:
        batch, heads, _, key_length = sizes(bias)
        shape = (batch, heads, sizes(logits)[-2], key_length)
        bias = ops.broadcast_to(bias, shape)
    return logits + bias


def _mask_tile(plan: _Plan, segment: Segment, window: Window) -> Tensor | None:
    mask = plan.problem.mask
    return mask.tile(window) if mask is not None and segment.masked else None


# ------------------------------------------------------------------------- forward


def _forward(
    plan: _Plan, query: Tensor, key: Tensor, value: Tensor, *rest: Tensor
) -> Tensor:
    biases, weights = rest[: plan.biases], rest[plan.biases :]
    logits_of = _logits(plan.problem.score)
    dtype = keras.backend.standardize_dtype(value.dtype)
    value_size = value.shape[-1]

    def tile_output(segment, group, tile):
        window = plan.window(segment, group, tile)
        q, k, v, b = _cut_inputs(window, query, key, value, biases)
        scores = _tile_scores(
            logits_of(q, k, *weights), b, _mask_tile(plan, segment, window)
        )
        keep = plan.keep(window, group)
        if keep is not None:
            scores = drop(scores, keep, plan.problem.dropout)
        return ops.matmul(ops.cast(scores, dtype), v)

    def group_output(carry, group):
        rows = []
        for segment in plan.segments:
            spec = Spec((1, plan.heads, _static(segment.rows), value_size), dtype)

            def tile_step(carry, tile, segment=segment):
                return carry, (tile_output(segment, group, tile),)

            _, (tiles,) = scan(tile_step, (), segment.tiles, (spec,))
            rows.append(_as_rows(tiles))
        return carry, (ops.concatenate(rows, axis=2)[0],)

    spec = Spec((plan.heads, _static(sizes(query)[2]), value_size), dtype)
    _, (groups,) = scan(group_output, (), plan.groups, (spec,))
    return _as_heads(plan, groups)


def drop(scores: Tensor, keep: Tensor, rate: float) -> Tensor:
    """Inverted dropout with a given keep mask."""
    return ops.where(keep, scores / (1 - rate), ops.zeros_like(scores))


def _static(size: Any) -> int | None:
    return size if _backend.is_static(size) else None


def _as_rows(tiles: Tensor) -> Tensor:
    """Stacked tiles `(tiles, 1, n, rows, V)` as `(1, n, tiles * rows, V)`."""
    count, _, heads, rows, width = sizes(tiles)
    return ops.reshape(
        ops.transpose(tiles, (1, 2, 0, 3, 4)), (1, heads, count * rows, width)
    )


def _as_heads(plan: _Plan, groups: Tensor) -> Tensor:
    """Stacked groups `(groups, n, L, V)` as `(B, N, L, V)`."""
    _, _, length, width = sizes(groups)
    return ops.reshape(groups, (plan.batch, plan.num_heads, length, width))


# ------------------------------------------------------------------------ backward


def _backward(
    plan: _Plan,
    output: Tensor,
    upstream: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *rest: Tensor,
) -> tuple:
    biases, weights = rest[: plan.biases], rest[plan.biases :]
    # rowsum(O * dO) equals rowsum(P * dP) and is all the backward pass needs of O.
    delta = ops.sum(
        ops.cast(output, plan.sum_dtype) * ops.cast(upstream, plan.sum_dtype),
        axis=-1,
        keepdims=True,
    )
    inputs = (query, key, value, biases, weights)
    shared = tuple(
        ops.zeros(sizes(x), dtype=plan.sum_dtype) for x in (*biases, *weights)
    )

    def group_step(shared, group):
        return _group_gradient(plan, inputs, upstream, delta, shared, group)

    emits = tuple(
        Spec((plan.heads, _static(sizes(x)[2]), x.shape[-1]), plan.sum_dtype)
        for x in (query, key, value)
    )
    shared, stacked = scan(group_step, shared, plan.groups, emits)
    grads = tuple(_as_heads(plan, x) for x in stacked) + tuple(shared)
    tensors = (query, key, value, *biases, *weights)
    return tuple(ops.cast(g, x.dtype) for g, x in zip(grads, tensors, strict=True))


def _group_gradient(plan, inputs, upstream, delta, shared, group):
    """Gradients of one (batch row, head group): a loop over its tiles."""
    query, key, value = inputs[:3]
    key_grad = ops.zeros(
        (1, plan.heads, plan.key_length, key.shape[-1]), plan.sum_dtype
    )
    value_grad = ops.zeros(
        (1, plan.heads, plan.key_length, value.shape[-1]), plan.sum_dtype
    )
    query_rows = []
    for segment in plan.segments:
        prefix = segment.starts is None
        width = segment.width if prefix else plan.key_length
        sums = (
            ops.zeros((1, plan.heads, width, key.shape[-1]), plan.sum_dtype),
            ops.zeros((1, plan.heads, width, value.shape[-1]), plan.sum_dtype),
        )

        def tile_step(carry, tile, segment=segment):
            return _tile_gradient(
                plan, segment, inputs, upstream, delta, carry, group, tile
            )

        spec = Spec(
            (1, plan.heads, _static(segment.rows), query.shape[-1]), plan.sum_dtype
        )
        (*segment_sums, shared), (tiles,) = scan(
            tile_step, (*sums, shared), segment.tiles, (spec,)
        )
        query_rows.append(_as_rows(tiles))
        origin = (0, 0, 0, 0)
        key_grad = _backend.add_to_slice(key_grad, origin, segment_sums[0])
        value_grad = _backend.add_to_slice(value_grad, origin, segment_sums[1])
    query_grad = ops.concatenate(query_rows, axis=2)
    return shared, (query_grad[0], key_grad[0], value_grad[0])


def _tile_gradient(plan, segment, inputs, upstream, delta, carry, group, tile):
    query, key, value, biases, weights = inputs
    key_sum, value_sum, shared = carry
    window = plan.window(segment, group, tile)
    q, k, v, b = _cut_inputs(window, query, key, value, biases)
    do = _cut_rows(window, upstream, window.queries)
    d = _cut_rows(window, delta, window.queries)

    logits, pull_back = _backend.vjp(_logits(plan.problem.score), q, k, *weights)
    scores = _tile_scores(logits, b, _mask_tile(plan, segment, window))
    score_grad = ops.cast(ops.matmul(do, ops.swapaxes(v, -1, -2)), plan.sum_dtype)
    keep = plan.keep(window, group)
    dropped = scores
    if keep is not None:
        dropped = drop(scores, keep, plan.problem.dropout)
        score_grad = drop(score_grad, keep, plan.problem.dropout)
    dropped = ops.cast(dropped, v.dtype)
    v_grad = ops.matmul(ops.swapaxes(dropped, -1, -2), do)
    logit_grad = scores * (score_grad - d)
    q_grad, k_grad, *w_grads = pull_back(ops.cast(logit_grad, logits.dtype))

    start = 0 if segment.starts is None else window.keys[0]
    key_sum = _accumulate(key_sum, (0, 0, start, 0), k_grad)
    value_sum = _accumulate(value_sum, (0, 0, start, 0), v_grad)
    shared = _add_shared(plan, window, biases, shared, logit_grad, w_grads)
    return (key_sum, value_sum, shared), (ops.cast(q_grad, plan.sum_dtype),)


def _accumulate(total: Tensor, start: tuple, update: Tensor) -> Tensor:
    return _backend.add_to_slice(total, start, ops.cast(update, total.dtype))


def _add_shared(plan, window, biases, shared, logit_grad, w_grads):
    """Add a tile's part to the gradients of bias and score weights."""
    totals = list(shared)
    for index, bias in enumerate(biases):
        spans = window[:4]
        whole = [_backend.is_static(s) and s == 1 for s in sizes(bias)]
        axes = tuple(axis for axis, one in enumerate(whole) if one)
        part = ops.sum(logit_grad, axis=axes, keepdims=True) if axes else logit_grad
        start = tuple(0 if one else s[0] for one, s in zip(whole, spans, strict=True))
        totals[index] = _accumulate(totals[index], start, part)
    for index, grad in enumerate(w_grads, start=len(biases)):
        totals[index] = totals[index] + ops.cast(grad, totals[index].dtype)
    return tuple(totals)
