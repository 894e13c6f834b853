"""Mean over the real positions of a sequence."""

import keras
from keras import ops

from keras_attention.ops import masks
from keras_attention.ops.softmax import at_least_float32


@keras.saving.register_keras_serializable(package="keras_attention")
class MaskedMeanPooling(keras.layers.Layer):
    """Mean over the real positions; 0 where there is none.

    `sum_t m_t x_t / max(1, sum_t m_t)`. The form without attention that attention
    pooling is compared with. `keras.layers.GlobalAveragePooling1D` gives NaN for a row
    of padding. Time and memory `O(B S D)`, no parameters.

    Shapes:
        B batch, S length, D size.

    Args:
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, S, D)`.
        mask: `(B, S)`, True = a real position; by default the hidden mask.

    Returns:
        `(B, D)`.

    Raises:
        ValueError: for a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> x = np.array([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]])
        >>> y = layers.MaskedMeanPooling()(x, mask=np.array([[1, 1, 0]]))
        >>> [float(value) for value in y[0]]
        [2.0, 3.0]

    Source:
        None: the arithmetic mean.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return ops.mean(inputs, axis=1)
        mask = masks.as_boolean("mask", mask)[..., None]
        kept = ops.where(mask, inputs, ops.zeros_like(inputs))
        # Half precision would overflow in the sum and round the count.
        total = ops.sum(at_least_float32(kept), axis=1)
        count = ops.sum(ops.cast(mask, total.dtype), axis=1)
        return ops.cast(total / ops.maximum(count, 1), inputs.dtype)

    def compute_mask(self, inputs, previous_mask):
        return None

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])
