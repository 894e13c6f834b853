"""What one call of attention computes, and the arithmetic both paths share."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import keras
from keras import ops

from keras_attention.ops._backend import sizes
from keras_attention.ops.masks import Mask
from keras_attention.ops.scores import Score
from keras_attention.ops.softmax import at_least_float32

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


def promote(x: Tensor) -> Tensor:
    """float16 becomes float32; query-key products would overflow there."""
    is_half = keras.backend.standardize_dtype(x.dtype) == "float16"
    return ops.cast(x, "float32") if is_half else x


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


def drop(scores: Tensor, keep: Tensor, rate: float) -> Tensor:
    """Inverted dropout with a given keep mask."""
    return ops.where(keep, scores / (1 - rate), ops.zeros_like(scores))
