"""Attention whose heads are mixed before and after the softmax."""

from typing import Any

from keras import ops

from keras_attention.ops import _backend, scores
from keras_attention.ops.attention import as_four_axes, check_dropout, check_shapes
from keras_attention.ops.masks import Mask, as_mask
from keras_attention.ops.problem import add_bias, drop, promote
from keras_attention.ops.softmax import at_least_float32, masked_softmax

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
    heads = query.shape[2] // key.shape[2]
    key, value = (x if heads == 1 else ops.repeat(x, heads, 2) for x in (key, value))
    query, key, value = (ops.transpose(x, (0, 2, 1, 3)) for x in (query, key, value))

    logits = scores.get(score)(*(promote(x) for x in (query, key, *score_weights)))
    logits = _mixed(logits_mix, logits)
    if bias is not None:
        logits = add_bias(logits, as_four_axes(bias))
    combined, allowed = as_mask(mask), None
    if combined is not None:
        query_length, key_length = _backend.sizes(logits)[2:]
        if query_offset is None:
            query_offset = key_length - query_length
        lengths = query_length, key_length
        allowed = combined.dense(*lengths, query_offset)
    sink = None if sink is None else ops.convert_to_tensor(sink)[:, None, None]
    attention_scores = masked_softmax(logits, allowed, sink)
    used = attention_scores
    if dropout:
        keep = _backend.keep_mask(seed, 0, _backend.sizes(used), dropout)
        used = drop(used, keep, dropout)
    used = _mixed(scores_mix, used)
    if allowed is not None and allowed.shape[1] != 1:  # heads see other positions
        used = ops.where(allowed, used, ops.zeros_like(used))
    output = ops.matmul(ops.cast(used, value.dtype), value)
    output = ops.transpose(output, (0, 2, 1, 3))
    return output, ops.cast(attention_scores, value.dtype)


def _mixed(mix: Tensor, x: Tensor) -> Tensor:
    """`x` `(B, N, T, S)` with its heads mixed, in at least float32."""
    x = at_least_float32(x)
    return ops.einsum("nm,bmts->bnts", ops.cast(mix, x.dtype), x)
