"""Fixed position encoding."""

import keras
from keras import ops

from keras_attention.errors import require
from keras_attention.ops import sinusoidal_encoding


@keras.saving.register_keras_serializable(package="keras_attention")
class SinusoidalPositionEncoding(keras.layers.Layer):
    """Adds sine and cosine waves of growing wavelength to its input.

    `PE[p, 2i] = sin(p / w^(2i / D))`, `PE[p, 2i + 1] = cos(p / w^(2i / D))`. Attention
    alone cannot see order; this needs no training and no longest length. Returns
    `inputs + encoding` and carries the mask: a bare `+` in Keras loses it. Time and
    memory `O(T D)`, no parameters.

    Shapes:
        B batch, T length, D size.

    Args:
        max_wavelength: `w`, the longest wavelength divided by 2 pi.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(..., T, D)`, usually token embeddings.
        start_index: Position of the first row, for decoding step by step.

    Returns:
        `(..., T, D)`.

    Raises:
        ValueError: for a `max_wavelength` that is not positive.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y = layers.SinusoidalPositionEncoding()(np.zeros((1, 3, 5)))
        >>> [round(float(value), 4) for value in y[0, 0]]
        [0.0, 1.0, 0.0, 1.0, 0.0]

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
    """

    def __init__(self, max_wavelength: float = 10_000.0, **kwargs):
        super().__init__(**kwargs)
        require(
            max_wavelength > 0,
            "`max_wavelength` must be positive.",
            max_wavelength=max_wavelength,
        )
        self.max_wavelength = float(max_wavelength)
        self.supports_masking = True

    def call(self, inputs, start_index=0):
        length, width = ops.shape(inputs)[-2], inputs.shape[-1]
        encoding = sinusoidal_encoding(length, width, start_index, self.max_wavelength)
        return inputs + ops.cast(encoding, inputs.dtype)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "max_wavelength": self.max_wavelength}
