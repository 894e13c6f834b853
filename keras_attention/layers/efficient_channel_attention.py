"""Efficient channel attention: a gate for every channel from its neighbours."""

import math

import keras

from keras_attention.errors import odd_integer, require
from keras_attention.layers._gate import BaseGate, mean, spread


@keras.saving.register_keras_serializable(package="keras_attention")
class EfficientChannelAttention(BaseGate):
    """Weighs every channel of a map by the means of a few channels around it.

    `x * sigmoid(conv(mean(x)))` with a convolution along the channels. Next to
    `SqueezeExcitation` it squeezes nothing: k parameters, whatever C is. It believes
    that neighbouring channels belong together, which training brings about. Time and
    memory `O(B h w C)`; multiply-adds `B C k`, k parameters.

    Shapes:
        B batch, h and w height and width (or any number of such axes), C channels,
        k kernel size.

    Args:
        kernel_size: Channels that decide on one, k, an odd number. `None` takes the odd
            number next to `(log2(C) + b) / gamma` that the paper takes: 3 for 8 to 64
            channels, 5 for 128 to 1,024.
        gamma: As above, 2 in the paper.
        b: As above, 1 in the paper.
        data_format: `"channels_last"` or `"channels_first"`; `None` takes
            `keras.config.image_data_format()`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, h, w, C)`, or `(B, C, h, w)` with channels first.
        mask: `(B, h, w)`, True = a real position; by default the hidden mask. Others
            are 0 and not counted.
        return_attention_scores: Also return the gate.
        training: Not used.

    Returns:
        As `inputs`; with scores the gate `(B, 1, 1, C)` or `(B, C, 1, 1)` second. A map
        without a real position gives 0, its gate too.

    Raises:
        ValueError: for a `kernel_size` that is not odd, a `gamma` that is not above 0,
            an unknown format, channels that are not known, or a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.EfficientChannelAttention()
        >>> y, gate = layer(np.ones((2, 5, 7, 64)), return_attention_scores=True)
        >>> tuple(y.shape), tuple(gate.shape), layer.count_params()
        ((2, 5, 7, 64), (2, 1, 1, 64), 3)

    Source:
        Wang et al. 2020, arXiv:1910.03151, equations 9 and 12.
    """

    num_spatial_axes = None

    def __init__(
        self,
        kernel_size: int | None = None,
        gamma: float = 2,
        b: float = 1,
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        if kernel_size is not None:
            odd_integer("kernel_size", kernel_size)
        require(gamma > 0, "`gamma` must be above 0.", gamma=gamma)
        self.kernel_size = kernel_size
        self.gamma, self.b = gamma, b

    def build_map(self, shape):
        size = self.kernel_size
        if size is None:
            size = adaptive_kernel_size(shape[-1], self.gamma, self.b)
        self.conv = self.part(
            keras.layers.Conv1D,
            (shape[0], shape[-1], 1),
            1,
            size,
            padding="same",
            activation="sigmoid",
            use_bias=False,
            data_format="channels_last",
            name="conv",
        )

    def gate(self, inputs, mask, training):
        means = mean(inputs, mask, tuple(range(1, 1 + self.num_axes)))
        return spread(self.conv(means[..., None])[..., 0], self.num_axes)

    def compute_scores_shape(self, shape):
        return (shape[0], *(1,) * self.num_axes, shape[-1])

    def get_config(self):
        return {
            **super().get_config(),
            "kernel_size": self.kernel_size,
            "gamma": self.gamma,
            "b": self.b,
        }


def adaptive_kernel_size(channels: int, gamma: float = 2, b: float = 1) -> int:
    """The odd number that the paper takes for so many channels, at least 1."""
    size = int(abs((math.log2(channels) + b) / gamma))
    return size if size % 2 else size + 1
