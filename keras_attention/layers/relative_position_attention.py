"""Multi-head attention with learned vectors of relative positions."""

import math

import keras
from keras import ops

from keras_attention.errors import positive_integer
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.ops.positions import relative_key_logits


@keras.saving.register_keras_serializable(package="keras_attention")
class RelativePositionAttention(MultiHeadAttention):
    """Multi-head attention where keys also answer by their distance.

    `softmax(Q_n (K_n + A)^T / sqrt(H)) V_n` with one learned vector `A_(j - i)` for
    each distance up to `max_distance`, shared by all heads. Unlike a
    `RelativePositionBias`, what a distance is worth depends on the query. The second
    product is a bias of every sequence's own: time `O(B N T (S + k) H)`, and
    memory `O(B N T (S + k))` also on the blockwise path, which saves no more than the
    scores; multiply-adds those of `MultiHeadAttention` plus `B N T (2 k + 1) H`, and
    `(2 k + 1) H` parameters more.

    Shapes:
        As in `MultiHeadAttention`; k `max_distance`.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key, H.
        max_distance: Longest distance with a vector of its own; those beyond share the
            last.
        **kwargs: As in `MultiHeadAttention`. Another `score`, and a `logit_soft_cap`,
            hold for the product with the keys alone.

    Call args:
        As in `MultiHeadAttention`.

    Returns:
        As `MultiHeadAttention`.

    Raises:
        ValueError: for a `max_distance` that is no positive integer, and as
            `MultiHeadAttention`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.RelativePositionAttention(2, 3, max_distance=4)
        >>> x = np.ones((1, 5, 4), "float32")
        >>> y, scores = layer(x, x, return_attention_scores=True)
        >>> tuple(y.shape), tuple(scores.shape)
        ((1, 5, 4), (1, 2, 5, 5))

    Source:
        Shaw et al. 2018, arXiv:1803.02155, equation 5. Without vectors for the values
        (equation 3), which gained nothing in their table 3.
    """

    def __init__(
        self, num_heads: int, key_dim: int, *, max_distance: int = 16, **kwargs
    ):
        super().__init__(num_heads, key_dim, **kwargs)
        self.max_distance = positive_integer("max_distance", max_distance)

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.relative_keys = self.add_weight(
            shape=(2 * self.max_distance + 1, self.key_dim),
            initializer="glorot_uniform",
            name="relative_keys",
        )

    def attend_projected(
        self, query, key, value, bias=None, query_offset=None, **options
    ):
        table = ops.convert_to_tensor(self.relative_keys)
        relative = relative_key_logits(query, table, ops.shape(key)[1], query_offset)
        # `ops.add` of Keras 3.15 takes a (T, 1) for one number a key on TensorFlow.
        bias = relative if bias is None else relative + bias
        return super().attend_projected(
            query, key, value, bias=bias, query_offset=query_offset, **options
        )

    def multiply_adds(self, query_shape, key_shape, value_shape):
        plain = super().multiply_adds(query_shape, key_shape, value_shape)
        return plain + math.prod(query_shape) * (2 * self.max_distance + 1)

    def held_numbers(self, query_shape, key_shape, value_shape):
        # The matches with all vectors, and what is gathered from them.
        each = 2 * self.max_distance + 1 + key_shape[1]
        matches = math.prod(query_shape[:3]) * each
        return super().held_numbers(query_shape, key_shape, value_shape) + matches

    def get_config(self):
        return {**super().get_config(), "max_distance": self.max_distance}
