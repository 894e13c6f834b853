"""Temporal attention: the end of a sequence looks back over it."""

import keras
from keras import ops

from keras_attention.layers._pooling import BasePooling, weigh
from keras_attention.ops import masks


@keras.saving.register_keras_serializable(package="keras_attention")
class TemporalAttention(BasePooling):
    """Weighted mean over time steps, the last real step being the query.

    `sum_t a_t x_t` with `a = softmax(x_last W x_t)`. After a recurrent encoder whose
    last state knows the sequence: for keyword spotting and the classification of time
    series. Unlike `AttentionPooling` the question depends on the input. Time
    `O(B (S D + D^2))`, memory `O(B S D)`; multiply-adds `B (D^2 + 2 S D)`, `D^2`
    parameters.

    Shapes:
        B batch, S time steps, D size.

    Args:
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, S, D)`, such as the outputs of a GRU with `return_sequences`.
        mask: `(B, S)`, True = a real step; by default the hidden mask. The query is
            the last real step of each row, wherever its padding stands.
        return_attention_scores: Also return the scores.

    Returns:
        `(B, D)`, and with scores `(B, S)`. A row without a real step gives 0.

    Raises:
        ValueError: for a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y, scores = layers.TemporalAttention()(
        ...     np.ones((2, 3, 4)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 4), (2, 3))

    Source:
        De Andrade et al. 2018, arXiv:1808.08929, section 3, whose query is the middle
        step, for a word in the middle of a clip, and is projected with a bias; the
        score is Luong et al. 2015, arXiv:1508.04025, section 3.1, general.
    """

    def build(self, input_shape):
        size = input_shape[-1]
        self.kernel = self.add_weight(
            shape=(size, size), initializer="glorot_uniform", name="kernel"
        )

    def pool(self, inputs, mask):
        query = last_step(inputs, mask)[:, None]
        weights = (ops.convert_to_tensor(self.kernel),)
        output, scores = weigh(query, inputs, inputs, mask, "general", weights)
        return output[:, 0], scores[:, 0]

    def multiply_adds(self, inputs_shape) -> int:
        """`B (D^2 + 2 S D)`."""
        batch, length, size = inputs_shape
        return batch * (size + 2 * length) * size


def last_step(inputs, mask=None):
    """The last real step `(B, D)` of `(B, S, D)`; 0 in a row without one."""
    if mask is None:
        return inputs[:, -1]
    positions = ops.arange(ops.shape(inputs)[1])
    real = ops.where(masks.as_boolean("mask", mask), positions, -1)
    is_last = positions == ops.max(real, axis=1, keepdims=True)
    kept = ops.where(is_last[..., None], inputs, ops.zeros_like(inputs))
    return ops.sum(kept, axis=1)  # of one step: nothing is rounded
