"""Dot-product attention."""

import keras

from keras_attention.layers.base import BaseAttention


@keras.saving.register_keras_serializable(package="keras_attention")
class DotProductAttention(BaseAttention):
    """Single-head attention by (scaled) dot product, without weights.

    `softmax(Q K^T / sqrt(H)) V`. For tensors that are already in one space; to learn
    the spaces take `MultiHeadAttention`. Time `O(B T S H)`, memory `O(B T S)` on the
    dense path and `O(B (T + S) H)` on the blockwise one; multiply-adds
    `B T S (H + V)`, no parameters.

    Shapes:
        B batch, T query length, S key length, H size of query and key, V of value.

    Args:
        scale: Divide the logits by `sqrt(H)`, which keeps their variance near 1.
        **kwargs: `dropout`, `mask`, `flash_attention`, `seed` of `BaseAttention`, and
            those of `keras.layers.Layer`.

    Call args:
        query: `(B, T, H)`.
        value: `(B, S, V)`.
        key: `(B, S, H)`; by default the value.
        query_mask, value_mask, key_mask: `(B, T)` or `(B, S)`, True = a real position.
            By default the hidden mask of the tensor.
        attention_mask: `(T, S)`, `(B, T, S)` or `(B, 1, T, S)`, True = may attend.
        return_attention_scores: Also return the scores before dropout.
        training: Whether to apply dropout.
        use_causal_mask: Query `i` sees keys up to `i + (S - T)`.
        attention_bias: Added to the logits, broadcastable to `(B, 1, T, S)`.

    Returns:
        `(B, T, V)`, and with scores `(B, T, S)`.

    Raises:
        ValueError: for a float `attention_mask` (numbers go to `attention_bias`).

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> query, value = np.ones((2, 3, 4)), np.ones((2, 5, 4))
        >>> y, scores = layers.DotProductAttention()(
        ...     query, value, return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 3, 4), (2, 3, 5))

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, equation 1; without the scale Luong et
        al. 2015, arXiv:1508.04025, dot.
    """

    def __init__(self, scale: bool = True, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale
        self.score = "scaled_dot" if scale else "dot"

    def get_config(self):
        return {**super().get_config(), "scale": self.scale}
