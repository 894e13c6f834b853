"""Which path `attend` takes: a fixed rule on shapes, mask and score."""

import math
from typing import Any

from keras_attention.ops import _backend, scores, tiling
from keras_attention.ops.masks import Causal, Padding
from keras_attention.ops.problem import Problem

Tensor = Any

# `python -m benchmarks crossover` measures what these should be. The blockwise path
# computes a score twice to train: it wins where a mask spares it more than that, where
# a score of pairs would write `(T, S, H)`, and where the scores would not fit.
SPARED_FROM = 512 * 512  # scores of one batch row and head, for a mask that spares
SPARED_SHARE = 0.75  # share of the scores it may leave to compute
PAIRWISE_FROM = 2**27  # elements of all batch rows and heads: 512 MiB in float32
SCORES_FROM = 2**28  # scores of all batch rows and heads: 1 GiB in float32
UNKNOWN_BATCH = 32  # what a batch size unknown before run time is taken for


def choose(
    problem: Problem, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> str:
    """The fixed rule; a length not known at trace time counts as short."""
    if can_fuse(problem, query, key, value, bias):
        return "fused"
    batch, query_length, num_heads, head_size = query.shape
    lengths = query_length, key.shape[1]
    if None in lengths or query_length == 1:
        return "dense"
    of_a_head = math.prod(lengths)
    total = of_a_head * num_heads * (batch or UNKNOWN_BATCH)
    if scores.is_pairwise(problem.score):
        return "blockwise" if total * head_size >= PAIRWISE_FROM else "dense"
    spares = (
        of_a_head >= SPARED_FROM
        and tiling.cost_share(*lengths, problem.mask, problem.offset) < SPARED_SHARE
    )
    return "blockwise" if spares or total >= SCORES_FROM else "dense"


def can_fuse(
    problem: Problem, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> bool:
    """Whether the backend has a kernel that computes exactly this.

    The kernels know a causal mask only aligned to the start, which is ours where
    `T = S`, and a key mask.
    """
    plain = problem.score is scores.scaled_dot and not problem.dropout
    if bias is not None or not plain or not _backend.has_fused_attention(key, value):
        return False
    mask = problem.mask
    if isinstance(mask, Causal):
        aligned = _backend.is_static(problem.offset) and problem.offset == 0
        return aligned and query.shape[1] == key.shape[1]
    keys_only = isinstance(mask, Padding) and mask.query_mask is None
    return mask is None or keys_only
