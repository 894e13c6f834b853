"""Coordinate attention: a gate for every channel of every row and of every column."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer
from keras_attention.layers._gate import (
    BaseGate,
    BatchNormalization,
    mean,
)


@keras.saving.register_keras_serializable(package="keras_attention")
class CoordinateAttention(BaseGate):
    """Weighs the channels of a map by row and by column.

    `x[i, j] * a[i] * b[j]` with `a = sigmoid(W_h z_h)` from the means of the rows and
    `b = sigmoid(W_w z_w)` from those of the columns, both through one shared hidden
    layer. Unlike `SqueezeExcitation` it knows where in the map something is. Made for
    small networks. Time and memory `O(B h w C)`; multiply-adds
    `2 B (h + w) C R`, parameters `3 C R + 2 C + 4 R`.

    The hidden layer is normalised by batch: train with batches.

    Shapes:
        B batch, h and w height and width, C channels, R = max(min_units, C // ratio)
        hidden units.

    Args:
        ratio: How many channels share a hidden unit.
        min_units: Fewest hidden units; 8 in the authors' code.
        activation: Of the hidden layer.
        data_format: `"channels_last"` or `"channels_first"`; `None` takes
            `keras.config.image_data_format()`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, h, w, C)`, or `(B, C, h, w)` with channels first.
        mask: `(B, h, w)`, True = a real position; by default the hidden mask. Others
            are 0 and counted in no mean.
        return_attention_scores: Also return the gate.
        training: Whether to normalise by the batch.

    Returns:
        As `inputs`; with scores the gate second, of the same shape, 0 where hidden.

    Raises:
        ValueError: for sizes below 1, an unknown format, inputs of other than four
            axes, channels that are not known, or a float mask.

    Examples:
        >>> from keras import ops
        >>> from keras_attention import layers
        >>> layer = layers.CoordinateAttention(ratio=4)
        >>> x = ops.ones((2, 5, 7, 8))
        >>> y, gate = layer(x, return_attention_scores=True)
        >>> bool(ops.all(ops.isclose(y, x * gate))), tuple(gate.shape)
        (True, (2, 5, 7, 8))

    Source:
        Hou et al. 2021, arXiv:2103.02907, equations 4 to 9.
    """

    def __init__(
        self,
        ratio: int = 32,
        min_units: int = 8,
        activation: Any = "hard_silu",
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self.ratio = positive_integer("ratio", ratio)
        self.min_units = positive_integer("min_units", min_units)
        self.activation = keras.activations.get(activation)

    def build_map(self, shape):
        channels = shape[-1]
        units = max(self.min_units, channels // self.ratio)
        strips, hidden = (shape[0], None, channels), (shape[0], None, units)
        dense = keras.layers.Dense
        self.reduce = self.part(dense, strips, units, use_bias=False, name="reduce")
        self.norm = self.part(BatchNormalization, hidden, name="norm")
        self.row_gate, self.column_gate = (
            self.part(dense, hidden, channels, "sigmoid", name=f"{name}_gate")
            for name in ("row", "column")
        )

    def gate(self, inputs, mask, training):
        strips = [mean(inputs, mask, (axis,)) for axis in (2, 1)]
        hidden = self.reduce(ops.concatenate(strips, axis=1))  # (B, h + w, R)
        seen = None
        if mask is not None:
            some = [ops.any(mask, axis=axis) for axis in (2, 1)]
            seen = ops.concatenate(some, axis=1)
        hidden = self.activation(self.norm(hidden, training=training, mask=seen))
        height = ops.shape(inputs)[1]
        rows = self.row_gate(hidden[:, :height])
        columns = self.column_gate(hidden[:, height:])
        return rows[:, :, None] * columns[:, None]

    def compute_scores_shape(self, shape):
        return shape

    def get_config(self):
        return {
            **super().get_config(),
            "ratio": self.ratio,
            "min_units": self.min_units,
            "activation": keras.activations.serialize(self.activation),
        }
