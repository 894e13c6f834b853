"""Squeeze-and-excitation: a gate for every channel."""

from typing import Any

import keras

from keras_attention.errors import one_of, positive_integer
from keras_attention.layers._gate import (
    BaseGate,
    hidden_units,
    maximum,
    mean,
    spread,
)

_POOLINGS = ("mean", "mean_max")


@keras.saving.register_keras_serializable(package="keras_attention")
class SqueezeExcitation(BaseGate):
    """Weighs every channel of a map by what the map holds on the whole.

    `x * sigmoid(W_2 relu(W_1 mean(x)))`, the mean over all positions. In a residual
    block it stands on the branch, before the addition. The default among gates: its
    products are few next to those of a convolution, and it knows the whole map where
    the convolution knows a few pixels. Time and memory `O(B h w C)`;
    multiply-adds `2 B C R`, parameters `2 C R + C + R`. With `pooling="mean_max"` the
    same network also sees the maxima, and the sigmoid their sum: multiply-adds
    `4 B C R`, no further parameters.

    Shapes:
        B batch, h and w height and width (or any number of such axes), C channels,
        R = max(1, C // ratio) hidden units.

    Args:
        ratio: How many channels share a hidden unit. A ratio above C leaves one unit.
        pooling: `"mean"`, or `"mean_max"`, the channel attention of CBAM.
        activation: Of the hidden units.
        gate_activation: Of the gate; `"hard_sigmoid"` in MobileNetV3.
        use_bias: Whether `W_1` and `W_2` have a bias, as in the authors' code but not
            in their equation.
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
        ValueError: for a `ratio` below 1, an unknown `pooling` or format, channels that
            are not known, or a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y, gate = layers.SqueezeExcitation(ratio=4)(
        ...     np.ones((2, 5, 7, 8)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(gate.shape)
        ((2, 5, 7, 8), (2, 1, 1, 8))

    Source:
        Hu et al. 2018, arXiv:1709.01507, equations 2 to 4. Maxima: Woo et al. 2018,
        arXiv:1807.06521, equation 2.
    """

    num_spatial_axes = None

    def __init__(
        self,
        ratio: int = 16,
        pooling: str = "mean",
        activation: Any = "relu",
        gate_activation: Any = "sigmoid",
        use_bias: bool = True,
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self.ratio = positive_integer("ratio", ratio)
        self.pooling = one_of("pooling", pooling, _POOLINGS)
        self.activation = keras.activations.get(activation)
        self.gate_activation = keras.activations.get(gate_activation)
        self.use_bias = use_bias

    def build_map(self, shape):
        channels = shape[-1]
        units = hidden_units(channels, self.ratio)
        self.squeeze = self.part(
            keras.layers.Dense,
            (shape[0], channels),
            units,
            self.activation,
            self.use_bias,
            name="squeeze",
        )
        self.excite = self.part(
            keras.layers.Dense,
            (shape[0], units),
            channels,
            use_bias=self.use_bias,
            name="excite",
        )

    def gate(self, inputs, mask, training):
        axes = tuple(range(1, 1 + self.num_axes))
        logits = self.excite(self.squeeze(mean(inputs, mask, axes)))  # (B, C)
        if self.pooling == "mean_max":
            logits += self.excite(self.squeeze(maximum(inputs, mask, axes)))
        return spread(self.gate_activation(logits), self.num_axes)

    def compute_scores_shape(self, shape):
        return (shape[0], *(1,) * self.num_axes, shape[-1])

    def get_config(self):
        return {
            **super().get_config(),
            "ratio": self.ratio,
            "pooling": self.pooling,
            "activation": keras.activations.serialize(self.activation),
            "gate_activation": keras.activations.serialize(self.gate_activation),
            "use_bias": self.use_bias,
        }
