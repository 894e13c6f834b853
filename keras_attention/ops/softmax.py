"""The one masked softmax of the library."""

from typing import Any

import keras
from keras import ops

Tensor = Any

LOWEST = -1e38  # a hidden logit, far below the lowest bias


def at_least_float32(x: Tensor) -> Tensor:
    """Half precision becomes float32; float64 stays."""
    is_double = keras.backend.standardize_dtype(x.dtype) == "float64"
    return x if is_double else ops.cast(x, "float32")


def masked_softmax(
    logits: Tensor, mask: Tensor | None = None, sink: Tensor | None = None
) -> Tensor:
    """Softmax over the last axis, restricted to the positions a mask allows.

    Computed in at least float32. A masked position gets exactly 0 and no gradient; a
    row with nothing to attend is 0 everywhere, with gradient 0, whatever the logits
    hold there.

    Args:
        logits: `(..., T, S)`, any float dtype.
        mask: Boolean, broadcastable to `logits`; True = may attend.
        sink: Logit of one more key, broadcastable to `(..., T, 1)`: it takes its share
            of every row and is left out of the result.

    Returns:
        Attention scores `(..., T, S)`: rows sum to 1, or to 0; with a sink to less than
        1. float32, or float64 for float64 logits.
    """
    logits = hidden(at_least_float32(logits), mask)
    if sink is None:
        scores = softmax(logits)
    else:
        column = ops.zeros_like(logits[..., :1]) + ops.cast(sink, logits.dtype)
        scores = softmax(ops.concatenate([logits, column], axis=-1))[..., :-1]
    if mask is None:
        return scores
    return ops.where(mask, scores, ops.cast(0.0, scores.dtype))


def hidden(logits: Tensor, mask: Tensor | None) -> Tensor:
    """Logits with `LOWEST` where a mask hides them.

    Their softmax is 0 there, but even in a row with nothing to attend.
    """
    if mask is None:
        return logits
    return ops.where(mask, logits, ops.cast(LOWEST, logits.dtype))


def alive(rows: Tensor, mask: Tensor | None) -> Tensor:
    """`rows` `(..., T, V)`, 0 where a row of the mask `(..., T, S)` allows nothing."""
    if mask is None:
        return rows
    return ops.where(ops.any(mask, axis=-1, keepdims=True), rows, ops.zeros_like(rows))


def softmax(logits: Tensor) -> Tensor:
    """Softmax over the last axis."""
    if logits.shape[-1] == 1:  # right for a single key; Keras warns that it is a slip
        return ops.exp(logits - logits)
    return ops.softmax(logits, axis=-1)
