"""Attention whose heads are mixed before and after the softmax."""

from typing import Any

from keras import ops

from keras_attention.ops import _backend, scores
from keras_attention.ops.attention import (
    as_four_axes,
    check_dropout,
    check_shapes,
    dense,
    repeated,
)
from keras_attention.ops.masks import Mask, as_mask
from keras_attention.ops.problem import Problem
from keras_attention.ops.softmax import at_least_float32

Tensor = Any


def attend_talking_heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    logits_mix: Tensor,
    scores_mix: Tensor,
    mask: Mask | Tensor | None = None,
    bias: Tensor | None = None,
    score: str | scores.Score = "scaled_dot",
    score_weights: tuple[Tensor, ...] = (),
    dropout: float = 0.0,
    seed: Tensor | None = None,
    query_offset: Any = None,
    sink: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`(A softmax(P score(Q, K) + bias)) V` with `P` and `A` over the heads.

    Every logit needs those of all heads, so there is one path, which holds them:
    time `O(B T S (N H + N^2))`, memory `O(B N T S)`.

    Args:
        query: `(B, T, N, H)`.
        key: `(B, S, K, H)`, K a divisor of N.
        value: `(B, S, K, V)`.
        logits_mix: `P`, `(N, N)`, from a head's logits (columns) to a head's (rows).
        scores_mix: `A`, `(N, N)`, the same for the scores.
        mask: As in `attend`. What it hides from a head stays hidden from it after the
            second mix.
        bias: Added to the mixed logits.
        score: As in `attend`.
        score_weights: As in `attend`.
        dropout: As in `attend`.
        seed: As in `attend`.
        query_offset: As in `attend`.
        sink: As in `attend`.

    Returns:
        Output `(B, T, N, V)`, and the scores `(B, N, T, S)` before dropout and the
        second mix: rows sum to 1, or to 0.

    Source:
        Shazeer et al. 2020, arXiv:2003.02436, section 3.
    """
    query, key, value = (_backend.read(x) for x in (query, key, value))
    check_shapes(query, key, value)
    check_dropout(dropout, seed)
    if query_offset is None:
        query_offset = _backend.sizes(key)[1] - _backend.sizes(query)[1]
    problem = Problem(scores.get(score), as_mask(mask), query_offset, dropout, seed)
    heads = (query, *repeated(query, key, value))
    query, key, value = (ops.transpose(x, (0, 2, 1, 3)) for x in heads)

    def mixed_scores(used: Tensor, allowed: Tensor | None) -> Tensor:
        used = _mixed(scores_mix, used)
        if allowed is None or allowed.shape[1] == 1:
            return used
        return ops.where(allowed, used, ops.zeros_like(used))  # heads see other keys

    output, attention_scores = dense(
        problem,
        query,
        key,
        value,
        None if bias is None else as_four_axes(bias),
        score_weights,
        None if sink is None else ops.convert_to_tensor(sink),
        on_logits=lambda logits: _mixed(logits_mix, logits),
        on_scores=mixed_scores,
    )
    return ops.transpose(output, (0, 2, 1, 3)), attention_scores


def _mixed(mix: Tensor, x: Tensor) -> Tensor:
    """`x` `(B, N, T, S)` with its heads mixed, in at least float32."""
    x = at_least_float32(x)
    return ops.einsum("nm,bmts->bnts", ops.cast(mix, x.dtype), x)
