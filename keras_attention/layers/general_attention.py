"""Luong's general attention."""

import keras

from keras_attention.layers.base import BaseAttention


@keras.saving.register_keras_serializable(package="keras_attention")
class GeneralAttention(BaseAttention):
    """Single-head attention with a learned bilinear score.

    `softmax(Q W K^T) V`: query and key may have different sizes and one matrix learns
    how they compare. Cheaper than the additive score and, in Luong's translation
    systems, as good. Time `O(B T S H)`; multiply-adds `B T (Hq Hk + S Hk + S V)`,
    `Hq * Hk` parameters.

    Shapes:
        B batch, T query length, S key length, Hq, Hk sizes of query and key, V of
        value.

    Args:
        **kwargs: `dropout`, `mask`, `flash_attention`, `seed` of `BaseAttention`, and
            those of `keras.layers.Layer`.

    Call args:
        query: `(B, T, Hq)`.
        value: `(B, S, V)`.
        key: `(B, S, Hk)`; by default the value.
        Others as in `DotProductAttention`.

    Returns:
        `(B, T, V)`, and with scores `(B, T, S)`.

    Raises:
        ValueError: for a float `attention_mask` (numbers go to `attention_bias`).

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y = layers.GeneralAttention()(np.ones((2, 3, 4)), np.ones((2, 5, 6)))
        >>> tuple(y.shape)
        (2, 3, 6)

    Source:
        Luong et al. 2015, arXiv:1508.04025, section 3.1, general.
    """

    score = "general"

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        self.add_score_weights(query_shape[-1], key_shape[-1])
