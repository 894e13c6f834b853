"""Concurrent squeeze-and-excitation (scSE): channels and positions side by side."""

import operator

import keras
from keras import ops

from keras_attention.errors import one_of, positive_integer
from keras_attention.layers._gate import BaseGate, zero_unseen
from keras_attention.layers.squeeze_excitation import SqueezeExcitation

# Not `ops.add`: on TensorFlow, Keras 3.15 takes a second operand with one axis above 1
# for a bias, also where that axis is not the channels.
_COMBINATIONS = {"add": operator.add, "max": ops.maximum}


class _PositionGate(BaseGate):
    """Weighs every position of a map by one learned sum of its channels (sSE)."""

    num_spatial_axes = None

    def build_map(self, shape):
        self.dense = self.part(
            keras.layers.Dense, shape, 1, "sigmoid", use_bias=False, name="dense"
        )

    def gate(self, inputs, mask, training):
        return self.dense(inputs)

    def compute_scores_shape(self, shape):
        return (*shape[:-1], 1)


@keras.saving.register_keras_serializable(package="keras_attention")
class ConcurrentSqueezeExcitation(BaseGate):
    """Weighs the channels of a map and, beside that, its positions (scSE).

    `x * m_c(x) + x * m_s(x)`: `SqueezeExcitation`, and `m_s(x) = sigmoid(W x)` for each
    position. Made for segmentation, where single positions count; put it after the
    blocks of an encoder and a decoder. Time and memory `O(B h w C)`; multiply-adds
    `2 B C R + B h w C`, parameters `2 C R + 2 C + R`.

    Shapes:
        B batch, h and w height and width (or any number of such axes), C channels,
        R = max(1, C // ratio) hidden units.

    Args:
        ratio: How many channels share a hidden unit, 2 in the paper. A ratio above C
            leaves one unit.
        combine: `"add"` takes the sum of both weighed maps, `"max"` the larger of both
            at each place.
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
        As `inputs`; with scores the gate second, of the same shape, in [0, 2] when
        added and [0, 1] else: the inputs times it are the output.
        `interpretation.capture` gives both gates apart.

    Raises:
        ValueError: for a `ratio` below 1, an unknown `combine` or format, channels that
            are not known, or a float mask.

    Examples:
        >>> from keras import ops
        >>> from keras_attention import layers
        >>> layer = layers.ConcurrentSqueezeExcitation()
        >>> x = ops.ones((2, 5, 7, 8))
        >>> y, gate = layer(x, return_attention_scores=True)
        >>> bool(ops.all(ops.isclose(y, x * gate))), tuple(gate.shape)
        (True, (2, 5, 7, 8))

    Source:
        Roy et al. 2018, arXiv:1803.02579, section 2.3 (sum); arXiv:1808.08127,
        section III-C (maximum). As there, only the channel gate has biases.
    """

    num_spatial_axes = None

    def __init__(
        self,
        ratio: int = 2,
        combine: str = "add",
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self.ratio = positive_integer("ratio", ratio)
        self.combine = one_of("combine", combine, _COMBINATIONS)

    def build_map(self, shape):
        last = {"data_format": "channels_last"}
        self.channel_attention = self.part(
            SqueezeExcitation, shape, self.ratio, name="channel_attention", **last
        )
        self.spatial_attention = self.part(
            _PositionGate, shape, name="spatial_attention", **last
        )

    def attend_map(self, inputs, mask, training, asked):
        options = {"mask": mask, "return_attention_scores": True}
        by_channel, channels = self.channel_attention(inputs, **options)
        by_position, positions = self.spatial_attention(inputs, **options)
        together = _COMBINATIONS[self.combine]
        output = together(by_channel, by_position)
        if not asked:
            return output, None
        gate = together(channels, positions)
        if self.combine == "max":
            # With a negative number the smaller factor gives the larger product.
            gate = ops.where(inputs < 0, ops.minimum(channels, positions), gate)
        return output, zero_unseen(gate, mask)

    def compute_scores_shape(self, shape):
        return shape

    def get_config(self):
        return {
            **super().get_config(),
            "ratio": self.ratio,
            "combine": self.combine,
        }
