"""Learned position embedding."""

import keras
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.ops import _backend


@keras.saving.register_keras_serializable(package="keras_attention")
class PositionEmbedding(keras.layers.Layer):
    """Adds one learned vector per position to its input.

    `x_t + E[t]`. Learns positions that matter, up to a longest length. Returns
    `inputs + embedding` and carries the mask: a bare `+` in Keras loses it. Time and
    memory `O(T D)`, `max_sequence_length * D` parameters.

    To go on with longer inputs, or images of another resolution, interpolate the table:
    `longer.set_weights([ops.positions.resized(table, length)])` with the `table` of
    `layer.get_weights()`, or `resized(table, (16, 16), grid=(8, 8))`.

    Shapes:
        B batch, T length, D size.

    Args:
        max_sequence_length: Number of positions the table holds.
        initializer: Initializer of the table.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(..., T, D)`.
        start_index: Position of the first row, for decoding step by step;
            `start_index + T` is at most `max_sequence_length`, which is checked where
            both are known before the call runs.

    Returns:
        `(..., T, D)`.

    Raises:
        ValueError: for positions known to lie outside the table.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y = layers.PositionEmbedding(max_sequence_length=8)(np.zeros((2, 3, 4)))
        >>> tuple(y.shape)
        (2, 3, 4)

    Source:
        Gehring et al. 2017, arXiv:1705.03122, section 3.1.
    """

    def __init__(
        self, max_sequence_length: int, initializer="glorot_uniform", **kwargs
    ):
        super().__init__(**kwargs)
        self.max_sequence_length = positive_integer(
            "max_sequence_length", max_sequence_length
        )
        self.initializer = keras.initializers.get(initializer)
        self.supports_masking = True

    def build(self, input_shape):
        self.embeddings = self.add_weight(
            shape=(self.max_sequence_length, input_shape[-1]),
            initializer=self.initializer,
            name="embeddings",
        )

    def call(self, inputs, start_index=0):
        length = ops.shape(inputs)[-2]
        first = start_index if _backend.is_static(start_index) else 0
        if _backend.is_static(length):
            require(
                0 <= first <= self.max_sequence_length - length,
                "The input must lie within positions 0 to `max_sequence_length`.",
                start_index=first,
                length=length,
                max_sequence_length=self.max_sequence_length,
            )
        table = ops.convert_to_tensor(self.embeddings)
        shape = (length, inputs.shape[-1])
        return inputs + ops.cast(
            ops.slice(table, (start_index, 0), shape), inputs.dtype
        )

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "max_sequence_length": self.max_sequence_length,
            "initializer": keras.initializers.serialize(self.initializer),
        }
