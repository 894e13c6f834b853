"""Exact attention inside a block, and one summary of every other block.

The keys get the summaries of all blocks behind them, `(B, S + M, N, H)`; two masks say
which query sees which, and the engine computes the rest.
"""

from typing import Any

import numpy as np
from keras import ops

from keras_attention.ops import _backend
from keras_attention.ops.attention import attend
from keras_attention.ops.masks import Causal, Mask, Padding, PositionMask
from keras_attention.ops.masks.positions import states

Tensor = Any


def attend_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    size: int,
    key_mask: Tensor | None = None,
    query_mask: Tensor | None = None,
    is_causal: bool = False,
    mask: Mask | None = None,
    **options: Any,
) -> Any:
    """Softmax attention to the query's block and to the mean of each other block.

    The logit of a summary gets `log(number of its real keys)`: where the keys of a
    block are equal, the result is that of full attention. Time
    `O(B N T (size + S / size) H)`.

    Shapes:
        B batch, T query length, S key length, N heads, H head size, V value head size,
        M blocks, `ceil(S / size)`.

    Args:
        query: `(B, T, N, H)`.
        key: `(B, S, N, H)`.
        value: `(B, S, N, V)`.
        size: Keys of a block.
        key_mask: `(B, S)`, True = a real key.
        query_mask: `(B, T)`, True = a real query.
        is_causal: Query `i` sees keys of its block up to `i + (S - T)` and summaries of
            blocks before its own.
        mask: A mask of positions for the single keys; summaries are seen whole.
        **options: Those of `ops.attend` but bias and offset.

    Returns:
        `(B, T, N, V)`; with `return_attention_scores` also scores `(B, N, T, S + M)`,
        those of the summaries last.
    """
    query_length, key_length = (_backend.sizes(x)[1] for x in (query, key))
    if key_mask is None:
        key_mask = ops.ones(_backend.sizes(key)[:2], dtype="bool")
    counts = _summed(ops.cast(key_mask, "float32")[..., None], size)  # (B, M, 1)
    real = key_mask[..., None, None]
    key, value = (
        ops.concatenate([x, _means(x, real, counts, size)], axis=1)
        for x in (key, value)
    )
    offset = key_length - query_length
    single: Mask = _Inside(size, key_length)
    if is_causal:
        single = single & Causal()
    if mask is not None:
        single = single & mask
    seen = single | _Summaries(size, key_length, is_causal)
    keys = ops.concatenate([key_mask, counts[..., 0] > 0], axis=1)
    exact = ops.zeros_like(ops.cast(key_mask, "float32"))
    bias = ops.concatenate([exact, ops.log(ops.maximum(counts[..., 0], 1.0))], axis=1)
    return attend(
        query,
        key,
        value,
        mask=seen & Padding(keys, query_mask),
        bias=bias[:, None, None, :],
        query_offset=offset,
        **options,
    )


def _summed(x: Tensor, size: int) -> Tensor:
    """Sums of `size` rows each: `(B, S, ...)` to `(B, M, ...)`."""
    batch, length, *rest = _backend.sizes(x)
    blocks = -(-length // size)
    missing = blocks * size - length
    x = ops.pad(x, [[0, 0], [0, missing], *[[0, 0] for _ in rest]])
    return ops.sum(ops.reshape(x, (batch, blocks, size, *rest)), axis=2)


def _means(x: Tensor, real: Tensor, counts: Tensor, size: int) -> Tensor:
    """Means of the real rows of each block, taken in float32."""
    wide = ops.where(real, ops.cast(x, "float32"), 0.0)
    means = _summed(wide, size) / ops.maximum(counts, 1.0)[..., None]
    return ops.cast(means, x.dtype)


class _Inside(PositionMask):
    """A query sees the keys of its own block; no summary."""

    def __init__(self, size: int, key_length: Any):
        self.size, self.key_length = size, key_length

    def allows(self, query, key):
        return (query // self.size == key // self.size) & (key < self.key_length)

    def block_states(self, queries, keys):
        low, high = (x[:, None] // self.size for x in (queries.first, queries.last))
        key_low, key_high = keys.first // self.size, keys.last // self.size
        exact = keys.last < self.key_length
        empty = (key_low > high) | (key_high < low) | (keys.first >= self.key_length)
        full = (low == high) & (key_low == key_high) & (low == key_low) & exact
        return states(empty, full, queries, keys)


class _Summaries(PositionMask):
    """A query sees the summaries of other blocks, if causal of earlier ones."""

    def __init__(self, size: int, key_length: Any, is_causal: bool):
        self.size, self.key_length, self.is_causal = size, key_length, is_causal

    def allows(self, query, key):
        block, own = key - self.key_length, query // self.size
        other = block < own if self.is_causal else block != own
        return (block >= 0) & other

    def block_states(self, queries, keys):
        low, high = (x[:, None] // self.size for x in (queries.first, queries.last))
        first, last = keys.first - self.key_length, keys.last - self.key_length
        earlier, later = last < low, first > high
        summaries = first >= 0
        if self.is_causal:
            empty = (last < 0) | (np.maximum(first, 0) >= high)
            return states(empty, summaries & earlier, queries, keys)
        own = (low == high) & (first == last) & (first == low)
        full = summaries & (earlier | later)
        return states((last < 0) | own, full, queries, keys)
