"""Spatial attention: a gate for every position of a map."""

import keras
from keras import ops

from keras_attention.errors import odd_integer
from keras_attention.layers._gate import BaseGate
from keras_attention.ops.softmax import at_least_float32


@keras.saving.register_keras_serializable(package="keras_attention")
class SpatialAttention(BaseGate):
    """Weighs every position of a map by the mean and maximum of its channels around it.

    `x * sigmoid(conv([mean_c(x), max_c(x)]))` with one convolution that sees two
    channels. Says where to look; a channel gate says for what. Alone it is the cheapest
    gate that gives a picture over the image. Time `O(B h w (C + k^2))`, memory
    `O(B h w C)`; multiply-adds `2 B h w k^2`, parameters without bias `2 k^2`.

    Shapes:
        B batch, h and w height and width, C channels, k kernel size.

    Args:
        kernel_size: Side of the square around a position, k, an odd number.
        use_bias: Whether the convolution has a bias.
        data_format: `"channels_last"` or `"channels_first"`; `None` takes
            `keras.config.image_data_format()`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, h, w, C)`, or `(B, C, h, w)` with channels first.
        mask: `(B, h, w)`, True = a real position; by default the hidden mask. Others
            are 0, as is what lies beyond the border.
        return_attention_scores: Also return the gate.
        training: Not used.

    Returns:
        As `inputs`; with scores the gate `(B, h, w, 1)` or `(B, 1, h, w)` second, 0
        where hidden.

    Raises:
        ValueError: for a `kernel_size` that is not odd, an unknown format, inputs of
            other than four axes, channels that are not known, or a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y, gate = layers.SpatialAttention()(
        ...     np.ones((2, 5, 7, 8)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(gate.shape)
        ((2, 5, 7, 8), (2, 5, 7, 1))

    Source:
        Woo et al. 2018, arXiv:1807.06521, equation 3. The authors' code also normalises
        the convolution's output by batch.
    """

    def __init__(
        self,
        kernel_size: int = 7,
        use_bias: bool = False,
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self.kernel_size = odd_integer("kernel_size", kernel_size)
        self.use_bias = use_bias

    def build_map(self, shape):
        self.conv = self.part(
            keras.layers.Conv2D,
            (*shape[:-1], 2),
            1,
            self.kernel_size,
            padding="same",
            activation="sigmoid",
            use_bias=self.use_bias,
            data_format="channels_last",
            name="conv",
        )

    def gate(self, inputs, mask, training):
        means = ops.mean(at_least_float32(inputs), axis=-1, keepdims=True)
        means = ops.cast(means, inputs.dtype)
        highest = ops.max(inputs, axis=-1, keepdims=True)
        return self.conv(ops.concatenate([means, highest], axis=-1))

    def compute_scores_shape(self, shape):
        return (*shape[:-1], 1)

    def get_config(self):
        return {
            **super().get_config(),
            "kernel_size": self.kernel_size,
            "use_bias": self.use_bias,
        }
