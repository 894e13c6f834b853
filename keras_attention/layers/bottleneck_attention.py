"""Bottleneck attention (BAM): one gate for every channel of every position."""

import keras
from keras import ops

from keras_attention.errors import positive_integer
from keras_attention.layers._gate import (
    BaseGate,
    BatchNormalization,
    hidden_units,
    mean,
    spread,
)
from keras_attention.layers.base import zero_rows

_SAME = {"padding": "same", "data_format": "channels_last"}


@keras.saving.register_keras_serializable(package="keras_attention")
class BottleneckAttention(BaseGate):
    """Adds to a map what a gate for every channel of every position lets through (BAM).

    `x + x * sigmoid(M_c(x) + M_s(x))`: `M_c` is a small network on the means of the
    channels, `M_s` one of dilated convolutions that sees far around a position. It
    never takes away, so it stands between the stages of a network, before they shrink
    the map. Time `O(B h w R (C + R))`, memory `O(B h w C)`; multiply-adds
    `2 B C R + B h w R (C + 18 R + 1)`.

    Both networks end in batch normalisation, which balances them: train with batches of
    more than one map.

    Shapes:
        B batch, h and w height and width, C channels, R = max(1, C // ratio) hidden
        units.

    Args:
        ratio: How many channels share a hidden unit. A ratio above C leaves one unit.
        dilation_rate: Distance of the positions that the two 3 x 3 convolutions read.
        data_format: `"channels_last"` or `"channels_first"`; `None` takes
            `keras.config.image_data_format()`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, h, w, C)`, or `(B, C, h, w)` with channels first.
        mask: `(B, h, w)`, True = a real position; by default the hidden mask. Others
            are 0 for every convolution and counted in no mean.
        return_attention_scores: Also return the gate.
        training: Whether to normalise by the batch.

    Returns:
        As `inputs`; with scores the gate second, of the same shape, 0 where hidden. The
        output is the inputs times 1 + gate.

    Raises:
        ValueError: for a `ratio` or `dilation_rate` below 1, an unknown format, inputs
            of other than four axes, channels that are not known, or a float mask.

    Examples:
        >>> from keras import ops
        >>> from keras_attention import layers
        >>> x = ops.ones((2, 5, 7, 8))
        >>> y, gate = layers.BottleneckAttention(4)(x, return_attention_scores=True)
        >>> bool(ops.all(ops.isclose(y, x + x * gate))), tuple(gate.shape)
        (True, (2, 5, 7, 8))

    Source:
        Park et al. 2018, arXiv:1807.06514, equations 1 to 4, with a ReLU after every
        hidden layer. The authors' code also normalises after each of these.
    """

    def __init__(
        self,
        ratio: int = 16,
        dilation_rate: int = 4,
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self.ratio = positive_integer("ratio", ratio)
        self.dilation_rate = positive_integer("dilation_rate", dilation_rate)

    def build_map(self, shape):
        channels = shape[-1]
        units = hidden_units(channels, self.ratio)
        means, hidden_map = (shape[0], channels), (*shape[:-1], units)
        dense, conv = keras.layers.Dense, keras.layers.Conv2D
        norm = BatchNormalization
        self.channel_squeeze = self.part(dense, means, units, "relu", name="squeeze")
        self.channel_excite = self.part(
            dense, (shape[0], units), channels, name="excite"
        )
        self.channel_norm = self.part(norm, means, name="channel_norm")
        self.reduce = self.part(dense, shape, units, "relu", name="reduce")
        self.convs = [
            self.part(
                conv,
                hidden_map,
                units,
                3,
                dilation_rate=self.dilation_rate,
                activation="relu",
                name=f"conv_{index}",
                **_SAME,
            )
            for index in range(2)
        ]
        self.project = self.part(dense, hidden_map, 1, name="project")
        self.spatial_norm = self.part(norm, (*shape[:-1], 1), name="spatial_norm")

    def gate(self, inputs, mask, training):
        channels = self._channels(inputs, mask, training)
        return ops.sigmoid(channels + self._positions(inputs, mask, training))

    def _channels(self, inputs, mask, training):
        means = mean(inputs, mask, (1, 2))
        logits = self.channel_excite(self.channel_squeeze(means))
        seen = None if mask is None else ops.any(mask, axis=(1, 2))
        return spread(self.channel_norm(logits, training=training, mask=seen), 2)

    def _positions(self, inputs, mask, training):
        hidden = self.reduce(inputs)
        for conv in self.convs:
            hidden = conv(zero_rows(hidden, mask))
        return self.spatial_norm(self.project(hidden), training=training, mask=mask)

    def weigh(self, inputs, gate):
        return inputs + inputs * gate

    def compute_scores_shape(self, shape):
        return shape

    def get_config(self):
        return {
            **super().get_config(),
            "ratio": self.ratio,
            "dilation_rate": self.dilation_rate,
        }
