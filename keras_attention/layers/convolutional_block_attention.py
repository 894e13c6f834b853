"""Convolutional block attention (CBAM): a gate for channels, then one for positions."""

import keras

from keras_attention.errors import odd_integer, positive_integer
from keras_attention.layers._gate import BaseGate
from keras_attention.layers.spatial_attention import SpatialAttention
from keras_attention.layers.squeeze_excitation import SqueezeExcitation


@keras.saving.register_keras_serializable(package="keras_attention")
class ConvolutionalBlockAttention(BaseGate):
    """Weighs the channels of a map, and then the positions of the result (CBAM).

    `y = x * m_c(x)`, then `y * m_s(y)`: `SqueezeExcitation` that sees means and maxima,
    before `SpatialAttention`. In a residual block it stands on the branch, before the
    addition. Says both what counts and where. Time `O(B h w (C + k^2))`, memory
    `O(B h w C)`; multiply-adds `4 B C R + 2 B h w k^2`, parameters without bias
    `2 C R + 2 k^2`.

    Shapes:
        B batch, h and w height and width, C channels, k kernel size,
        R = max(1, C // ratio) hidden units.

    Args:
        ratio: How many channels share a hidden unit of the channel gate. A ratio above
            C leaves one unit.
        kernel_size: Side of the square that decides on a position, k, an odd number.
        use_bias: Whether the gates' layers have a bias. Equations 2 and 3 have none;
            the authors' code has them in the channel gate.
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
        As `inputs`; with scores the product of both gates second, of the same shape, 0
        where hidden. `interpretation.capture` gives the gates apart.

    Raises:
        ValueError: for a `ratio` below 1, a `kernel_size` that is not odd, an unknown
            format, inputs of other than four axes, channels that are not known, or a
            float mask.

    Examples:
        >>> from keras import ops
        >>> from keras_attention import layers
        >>> layer = layers.ConvolutionalBlockAttention(ratio=4)
        >>> x = ops.ones((2, 5, 7, 8))
        >>> y, gate = layer(x, return_attention_scores=True)
        >>> bool(ops.all(ops.isclose(y, x * gate))), tuple(gate.shape)
        (True, (2, 5, 7, 8))

    Source:
        Woo et al. 2018, arXiv:1807.06521, equations 1 to 3. The authors' code also
        normalises the output of the spatial convolution by batch.
    """

    def __init__(
        self,
        ratio: int = 16,
        kernel_size: int = 7,
        use_bias: bool = False,
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self.ratio = positive_integer("ratio", ratio)
        self.kernel_size = odd_integer("kernel_size", kernel_size)
        self.use_bias = use_bias

    def build_map(self, shape):
        shared = {"use_bias": self.use_bias, "data_format": "channels_last"}
        self.channel_attention = self.part(
            SqueezeExcitation,
            shape,
            self.ratio,
            pooling="mean_max",
            name="channel_attention",
            **shared,
        )
        self.spatial_attention = self.part(
            SpatialAttention,
            shape,
            self.kernel_size,
            name="spatial_attention",
            **shared,
        )

    def attend_map(self, inputs, mask, training, asked):
        options = {"mask": mask, "return_attention_scores": True}
        output, channels = self.channel_attention(inputs, **options)
        output, positions = self.spatial_attention(output, **options)
        return output, channels * positions if asked else None

    def held_numbers(self, inputs_shape) -> int:
        """0: the gates inside hold the maps they weigh."""
        return 0

    def compute_scores_shape(self, shape):
        return shape

    def get_config(self):
        return {
            **super().get_config(),
            "ratio": self.ratio,
            "kernel_size": self.kernel_size,
            "use_bias": self.use_bias,
        }
