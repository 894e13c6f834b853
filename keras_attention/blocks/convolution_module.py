"""The convolution of a Conformer block."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import odd_integer, one_of
from keras_attention.layers.base import zero_rows

NORMS = ("batch", "layer")


@keras.saving.register_keras_serializable(package="keras_attention")
class ConvolutionModule(keras.layers.Layer):
    """A gate, a convolution of every channel over time, and a projection.

    `W_2 f(norm(depthwise(a * sigmoid(b))))` with `[a, b] = W_1 x`: what is near in
    time, beside attention for what is far. Padding is 0 before the convolution, and
    counts in no statistics. Time `O(B T D (3 D + k))`, parameters `3 D^2 + (k + 6) D`,
    and with batch normalisation `2 D` that are not trained.

    Shapes:
        B batch, T length, D size, k `kernel_size`.

    Args:
        kernel_size: Width of the convolution in positions, odd: as far to both sides.
        norm: `"batch"`, as published, over all real positions of a batch, or `"layer"`,
            of every position alone: for batches of a few clips.
        activation: f, Swish in the paper.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, T, D)`.
        mask: `(B, T)`, True = a real position; by default the hidden mask.
        training: Whether batch normalisation takes the batch's own statistics.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: for an even `kernel_size` or an unknown `norm`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import blocks
        >>> y = blocks.ConvolutionModule(kernel_size=3)(np.ones((2, 5, 4)))
        >>> tuple(y.shape)
        (2, 5, 4)

    Source:
        Gulati et al. 2020, arXiv:2005.08100, section 2.2.
    """

    def __init__(
        self,
        kernel_size: int = 31,
        norm: str = "batch",
        activation: Any = "silu",
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.kernel_size = odd_integer("kernel_size", kernel_size)
        self.norm = one_of("norm", norm, NORMS)
        self.activation = keras.activations.get(activation)
        self.supports_masking = True

    def build(self, input_shape):
        size, policy = input_shape[-1], self.dtype_policy
        self.expand = keras.layers.Dense(2 * size, dtype=policy, name="expand")
        self.depthwise = keras.layers.DepthwiseConv1D(
            self.kernel_size,
            padding="same",
            data_format="channels_last",
            dtype=policy,
            name="depthwise",
        )
        kind = {
            "batch": keras.layers.BatchNormalization,
            "layer": keras.layers.LayerNormalization,
        }[self.norm]
        self.norm_layer = kind(epsilon=1e-5, dtype=policy, name="norm")
        self.contract = keras.layers.Dense(size, dtype=policy, name="contract")
        for layer in (self.expand, self.depthwise, self.norm_layer, self.contract):
            layer.build((None, None, size))

    def call(self, inputs, mask=None, training=None):
        x = self.expand(zero_rows(inputs, mask))  # (B, T, 2 D)
        value, gate = ops.split(x, 2, axis=-1)
        x = self.depthwise(zero_rows(value * ops.sigmoid(gate), mask))
        if self.norm == "batch":
            x = self.norm_layer(x, training=training, mask=mask)
        else:
            x = self.norm_layer(x)
        return self.contract(self.activation(x))

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "kernel_size": self.kernel_size,
            "norm": self.norm,
            "activation": keras.activations.serialize(self.activation),
        }
