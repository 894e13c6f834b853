"""What the layers share that weigh a feature map by a gate computed from it."""

from math import prod
from typing import Any

import keras
from keras import ops

from keras_attention.layers._feature_map import FeatureMapLayer
from keras_attention.layers.base import zero_rows
from keras_attention.ops.softmax import at_least_float32

Tensor = Any


class BaseGate(FeatureMapLayer):
    """Base of the layers that multiply a feature map by a gate of it.

    A layer overrides `gate`; `weigh` too where the output is not just the product.
    Positions that a mask hides are 0 before anything is computed and count in no mean
    and no maximum; where a gate would weigh nothing but hidden positions it is 0.

    Args:
        **kwargs: Those of `FeatureMapLayer`.
    """

    def gate(self, inputs: Tensor, mask: Tensor | None, training: bool | None):
        """The gate of `(B, *spatial, C)`, with 1 for every axis it shares."""
        raise NotImplementedError

    def weigh(self, inputs: Tensor, gate: Tensor) -> Tensor:
        """The output."""
        return inputs * gate

    def attend_map(self, inputs, mask, training, asked):
        gate = zero_unseen(self.gate(inputs, mask, training), mask)
        return self.weigh(inputs, gate), gate

    def held_numbers(self, inputs_shape) -> int:
        """The weighed map, which no layer inside returns."""
        return prod(inputs_shape)


class BatchNormalization(keras.layers.BatchNormalization):
    """Keras's, which squeezes the moments of one masked channel to scalars."""

    # A private method of Keras 3.15.1, of which its `call` takes means and variances in
    # training: JAX and PyTorch cannot assign the scalars to statistics of one channel.
    # With a Keras that squeezes no more than the axes it reduced this class can go.
    def _moments(self, inputs, mask):
        moments = super()._moments(inputs, mask)
        return tuple(ops.reshape(moment, (-1,)) for moment in moments)


def zero_unseen(gate: Tensor, mask: Tensor | None) -> Tensor:
    """A gate with 0 where all that it weighs is hidden."""
    if mask is None:
        return gate
    spatial = range(1, len(mask.shape))
    shared = tuple(axis for axis in spatial if gate.shape[axis] == 1)
    seen = ops.any(mask, axis=shared, keepdims=True) if shared else mask
    return zero_rows(gate, seen)


def hidden_units(channels: int, ratio: int) -> int:
    """Units between two layers of a gate: a ratio may leave one, never none."""
    return max(1, channels // ratio)


def spread(values: Tensor, num_axes: int) -> Tensor:
    """`(B, C)` as `(B, 1, ..., C)`, one 1 for each spatial axis."""
    return ops.reshape(values, (-1, *(1,) * num_axes, values.shape[-1]))


def mean(inputs: Tensor, mask: Tensor | None, axes: tuple[int, ...]) -> Tensor:
    """Mean over spatial axes of a map that is 0 where hidden; 0 where all is.

    In at least float32: half precision would overflow in the sum and round the count.
    """
    numbers = at_least_float32(inputs)
    if mask is None:
        return ops.cast(ops.mean(numbers, axis=axes), inputs.dtype)
    count = ops.sum(ops.cast(mask, numbers.dtype), axis=axes)[..., None]
    total = ops.sum(numbers, axis=axes)
    return ops.cast(total / ops.maximum(count, 1), inputs.dtype)


def maximum(inputs: Tensor, mask: Tensor | None, axes: tuple[int, ...]) -> Tensor:
    """Maximum over spatial axes of the positions that are not hidden, 0 without any."""
    if mask is None:
        return ops.max(inputs, axis=axes)
    lowest = ops.cast(float("-inf"), inputs.dtype)
    highest = ops.max(ops.where(mask[..., None], inputs, lowest), axis=axes)
    return zero_rows(highest, ops.any(mask, axis=axes))
