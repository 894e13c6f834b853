"""Attention with linear biases."""

import keras
from keras import ops

from keras_attention.layers._position_bias import PositionBias
from keras_attention.ops import positions


@keras.saving.register_keras_serializable(package="keras_attention")
class AlibiBias(PositionBias):
    """A penalty on distance: `-m_n |i - j|`, one slope `m_n` for each head.

    Give it to any attention layer as `attention_bias`. Instead of position embeddings;
    models trained on short sequences go on to longer ones. The slopes are fixed:
    `2^(-8 n / N)`. Time and memory `O(N T S)` for all of a batch together, no
    parameters.

    Shapes:
        T query length, S key length, N heads.

    Args:
        num_heads: Number of heads, N. Where it is no power of two, the slopes of the
            next lower power and every second one of the next higher, as in the paper's
            code.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        query: A tensor `(B, T, ...)`, or `query=T`.
        key: A tensor `(B, S, ...)` or `S`; by default the query.
        query_offset: Position of query 0 among the keys, such as the
            `cache_update_index` in decoding; by default `S - T`.

    Returns:
        `(1, N, T, S)`. Computed in float32, then rounded to the layer's dtype.

    Raises:
        ValueError: for a `num_heads` that is no positive integer.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> x = np.ones((1, 3, 4), "float32")
        >>> bias = layers.AlibiBias(num_heads=2)(x)
        >>> [float(value) for value in bias[0, 0, 2]]  # slope 1 / 16
        [-0.125, -0.0625, 0.0]
        >>> y = layers.MultiHeadAttention(2, 4)(x, x, attention_bias=bias)

    Source:
        Press et al. 2022, arXiv:2108.12409, section 3. Under a causal mask the same;
        keys after the query, which the paper does not have, are penalised alike.
    """

    def bias(self, query_length, key_length, query_offset=None):
        relative = positions.relative_positions(query_length, key_length, query_offset)
        slopes = ops.convert_to_tensor(
            positions.alibi_slopes(self.num_heads), dtype="float32"
        )
        distance = ops.cast(ops.abs(relative), "float32")
        return -slopes[None, :, None, None] * distance
