"""The one masked softmax of the library."""

from typing import Any

import keras
from keras import ops

Tensor = Any


def masked_softmax(logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis, restricted to the positions a mask allows.

    Computed in at least float32. A masked position gets exactly 0 and no gradient; a
    row with nothing to attend is 0 everywhere, with gradient 0, whatever the logits
    hold there.

    Args:
        logits: `(..., T, S)`, any float dtype.
        mask: Boolean, broadcastable to `logits`; True = may attend.

    Returns:
        Attention scores `(..., T, S)`: rows sum to 1, or to 0. float32, or float64 for
        float64 logits.
    """
    if keras.backend.standardize_dtype(logits.dtype) != "float64":
        logits = ops.cast(logits, "float32")
    if mask is None:
        return ops.softmax(logits, axis=-1)
    lowest = ops.cast(-1e30, logits.dtype)
    scores = ops.softmax(ops.where(mask, logits, lowest), axis=-1)
    return ops.where(mask, scores, ops.cast(0.0, scores.dtype))
