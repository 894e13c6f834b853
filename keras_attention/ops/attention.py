"""`attend`: softmax attention for any score, mask and bias."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention.errors import fraction, one_of, require
from keras_attention.ops import _backend, scores
from keras_attention.ops.blockwise import blockwise
from keras_attention.ops.dispatch import can_fuse, choose
from keras_attention.ops.masks import Causal, Mask, Padding, as_mask
from keras_attention.ops.problem import Problem, add_bias, drop, promote
from keras_attention.ops.softmax import masked_softmax

Tensor = Any

IMPLEMENTATIONS = ("dense", "blockwise", "fused", "flash")


@_backend.as_written
def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Mask | Tensor | None = None,
    bias: Tensor | None = None,
    score: str | scores.Score = "scaled_dot",
    score_weights: tuple[Tensor, ...] = (),
    dropout: float = 0.0,
    seed: Tensor | None = None,
    query_offset: Any = None,
    sink: Tensor | None = None,
    implementation: str | None = None,
    return_attention_scores: bool = False,
) -> Any:
    """Softmax attention `softmax(score(Q, K) + bias) V`, restricted by a mask.

    Exact on every path. *Dense* holds the scores `(B, N, T, S)`. *Blockwise* holds a
    tile of them, in memory `O(T + S)`, skips blocks that the mask leaves empty and
    computes the scores again for the gradient (where a call has at most 16 tiles,
    TensorFlow keeps them); of second gradients it has JAX's alone. *Fused* is the
    framework's own kernel for `scaled_dot`. Time `O(B N T S H)`.

    Shapes:
        B batch, T query length, S key length, N heads, K key/value heads (a divisor of
        N), H head size, V value head size.

    Args:
        query: `(B, T, N, H)`.
        key: `(B, S, K, H)`.
        value: `(B, S, K, V)`.
        mask: A mask object, or a bool / int tensor `(T, S)`, `(B, T, S)` or
            `(B, N, T, S)`, True = may attend. Query `i` stands at position
            `i + (S - T)`. A row with nothing to attend gives 0 with gradient 0.
        bias: Numbers added to the logits, broadcastable to `(B, N, T, S)`. It weighs
            positions and hides none: where all of a row is `-inf` the row is even.
        score: Name (`ops.scores.names()`) or function
            `score(query (..., T, H), key (..., S, H), *score_weights)`.
        score_weights: Weights of the score; each receives its gradient.
        dropout: Share of scores dropped, in [0, 1).
        seed: Integer tensor `(2,)` such as `SeedGenerator.next()` gives; needed with
            dropout.
        query_offset: Position of query 0 among the keys, instead of `S - T`.
        sink: `(N,)`, logit of one more key whose value is 0: it takes its share of
            every row, so that a head can attend nothing.
        implementation: `"dense"`, `"blockwise"`, `"fused"`, `"flash"` (fused where that
            exists, else blockwise; dense for a single query), or `None`: chosen by a
            fixed rule on shapes. Results agree to rounding.
        return_attention_scores: Also return the scores before dropout (dense path).

    Returns:
        Output `(B, T, N, V)`, and with `return_attention_scores` the scores
        `(B, N, T, S)`.

    Raises:
        ValueError: for shapes that do not fit, a float mask, an unknown score, or
            dropout without a seed.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import masks, ops
        >>> x = np.ones((2, 5, 1, 4), "float32")
        >>> y = ops.attend(x, x, x, mask=masks.Causal() & masks.Local(2))
        >>> tuple(y.shape)
        (2, 5, 1, 4)

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, equation 1; the blockwise path follows
        Rabe and Staats 2021, arXiv:2112.05682; the sink is that of OpenAI 2025,
        arXiv:2508.10925.
    """
    query, key, value = (_backend.read(x) for x in (query, key, value))
    check_shapes(query, key, value)
    check_dropout(dropout, seed)
    if implementation is not None:
        one_of("implementation", implementation, IMPLEMENTATIONS)
    if query_offset is None:
        query_offset = _backend.sizes(key)[1] - _backend.sizes(query)[1]
    weights = tuple(_backend.read(weight) for weight in score_weights)
    problem = Problem(scores.get(score), as_mask(mask), query_offset, dropout, seed)
    bias = None if bias is None else as_four_axes(bias)

    key, value = repeated(query, key, value)
    sink = None if sink is None else _backend.read(sink)
    added = bias if sink is None else sink  # no kernel adds anything to the logits
    path = implementation or choose(problem, query, key, value, added)
    if path == "blockwise" and 0 in (*query.shape[:3], key.shape[1]):
        path = "dense"  # there is nothing to cut into tiles
    if path == "flash":
        fits = can_fuse(problem, query, key, value, added)
        one_row = query.shape[1] == 1  # its scores are no larger than a key
        path = "fused" if fits else "dense" if one_row else "blockwise"
    if return_attention_scores:
        path = "dense"
    if path == "fused":
        return _fused(problem, query, key, value, added)
    query, key, value = (ops.transpose(x, (0, 2, 1, 3)) for x in (query, key, value))
    if path == "blockwise":
        output = blockwise(problem, query, key, value, bias, weights, sink)
        return ops.transpose(output, (0, 2, 1, 3))
    output, attention_scores = dense(problem, query, key, value, bias, weights, sink)
    output = ops.transpose(output, (0, 2, 1, 3))
    return (output, attention_scores) if return_attention_scores else output


def check_dropout(dropout: float, seed: Tensor | None) -> None:
    """Refuse a rate outside [0, 1), and dropout without a seed."""
    fraction("dropout", dropout)
    require(
        not dropout or seed is not None,
        "Dropout needs a `seed`, an integer tensor of shape (2,).",
        seed=seed,
    )


def check_shapes(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse projected tensors that do not fit each other."""
    shapes = {
        name: tuple(x.shape)
        for name, x in (("query", query), ("key", key), ("value", value))
    }
    require(
        all(len(shape) == 4 for shape in shapes.values()),
        "`query`, `key` and `value` must have shape (batch, length, heads, size).",
        **shapes,
    )
    require(
        key.shape[2] == value.shape[2] and query.shape[2] % key.shape[2] == 0,
        "`key` and `value` must have equally many heads, a divisor of the query's.",
        **shapes,
    )
    require(
        None in (key.shape[1], value.shape[1]) or key.shape[1] == value.shape[1],
        "`key` and `value` must have the same length.",
        **shapes,
    )


def as_four_axes(bias: Tensor) -> Tensor:
    """A bias `(S,)`, `(T, S)` or `(N, T, S)` with leading axes of size 1."""
    bias = _backend.read(bias)
    while len(bias.shape) < 4:
        bias = bias[None]
    return bias


def repeated(query: Tensor, *shared: Tensor) -> tuple[Tensor, ...]:
    """Keys or values `(B, S, K, H)`, each head once for every query head it serves."""
    heads = query.shape[2] // shared[0].shape[2]
    return tuple(x if heads == 1 else ops.repeat(x, heads, 2) for x in shared)


def dense(
    problem: Problem,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    weights: tuple[Tensor, ...],
    sink: Tensor | None,
    on_logits: Callable[[Tensor], Tensor] | None = None,
    on_scores: Callable[[Tensor, Tensor | None], Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Output and scores, both heads-first, by holding the scores.

    `on_logits` changes the logits before the bias is added, `on_scores(scores, mask)`
    the scores before they meet the values.
    """
    logits = problem.score(*(promote(x) for x in (query, key, *weights)))
    if on_logits is not None:
        logits = on_logits(logits)
    if bias is not None:
        logits = add_bias(logits, bias)
    mask = None
    if problem.mask is not None:
        lengths = _backend.sizes(query)[2], _backend.sizes(key)[2]
        mask = problem.mask.dense(*lengths, problem.offset)
    sink = None if sink is None else sink[:, None, None]
    attention_scores = masked_softmax(logits, mask, sink)
    used = attention_scores
    if problem.dropout:
        shape = _backend.sizes(used)
        keep = _backend.keep_mask(problem.seed, 0, shape, problem.dropout)
        used = drop(used, keep, problem.dropout)
    if on_scores is not None:
        used = on_scores(used, mask)
    output = ops.matmul(ops.cast(used, value.dtype), value)
    return output, ops.cast(attention_scores, value.dtype)


# ------------------------------------------------------------ the framework's kernel


def _fused(
    problem: Problem, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> Tensor:
    require(
        can_fuse(problem, query, key, value, bias),
        "The fused kernel computes score='scaled_dot' for values as wide as keys, "
        "without dropout or bias, under no mask, `Causal()` with equal lengths, or key "
        "padding, on PyTorch and JAX on a GPU.",
        backend=keras.backend.backend(),
    )
    mask = problem.mask
    if not isinstance(mask, Padding):
        is_causal = isinstance(mask, Causal)
        return ops.dot_product_attention(query, key, value, is_causal=is_causal)
    keys = mask.dense(_backend.sizes(query)[1], _backend.sizes(key)[1])
    alive = ops.any(keys, axis=-1, keepdims=True)
    # The kernels' gradients are wrong where no key is left: let such rows see all keys
    # and take their output, and so their gradient, away afterwards.
    output = ops.dot_product_attention(query, key, value, mask=keys | ~alive)
    return ops.where(alive, output, ops.zeros_like(output))
