"""Pooling a sequence to one vector by learned attention."""

import keras
from keras import ops

from keras_attention.layers.base import ScoresOnRequest
from keras_attention.ops import attend, masks


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionPooling(ScoresOnRequest, keras.layers.Layer):
    """Weighted mean over time, the weights from one learned query.

    `sum_t a_t x_t` with `a = softmax(x . q)`: what a classifier needs after an encoder,
    and a picture of what it looked at. Time and memory `O(B S D)`, `D` parameters.

    Shapes:
        B batch, S length, D size.

    Args:
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, S, D)`.
        mask: `(B, S)`, True = a real position; by default the hidden mask.
        return_attention_scores: Also return the scores.

    Returns:
        `(B, D)`, and with scores `(B, S)`. A row without a real position gives 0.

    Raises:
        ValueError: for a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y, scores = layers.AttentionPooling()(
        ...     np.ones((2, 3, 4)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 4), (2, 3))

    Source:
        Yang et al. 2016, "Hierarchical attention networks", equation 6, without the
        hidden layer.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        self.query = self.add_weight(
            shape=(input_shape[-1],), initializer="glorot_uniform", name="query"
        )

    def call(self, inputs, mask=None, return_attention_scores=False):
        padding = None
        if mask is not None:
            mask = masks.as_boolean("mask", mask)
            inputs = ops.where(mask[..., None], inputs, ops.zeros_like(inputs))
            padding = masks.Padding(mask)
        batch, _, size = ops.shape(inputs)
        query = ops.broadcast_to(
            ops.convert_to_tensor(self.query)[None, None, None, :], (batch, 1, 1, size)
        )
        keys = inputs[:, :, None, :]
        output, scores = attend(
            query, keys, keys, padding, score="dot", return_attention_scores=True
        )
        output = output[:, 0, 0, :]
        return (output, scores[:, 0, 0]) if return_attention_scores else output

    def compute_mask(self, inputs, previous_mask):
        return None

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])

    def compute_output_spec(self, inputs, mask=None, return_attention_scores=False):
        batch, length, size = inputs.shape
        output = keras.KerasTensor((batch, size), dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        return output, keras.KerasTensor((batch, length), dtype=self.compute_dtype)
