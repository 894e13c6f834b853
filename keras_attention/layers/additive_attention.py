"""Bahdanau's additive attention."""

import keras

from keras_attention.errors import positive_integer
from keras_attention.layers.base import BaseAttention


@keras.saving.register_keras_serializable(package="keras_attention")
class AdditiveAttention(BaseAttention):
    """Single-head attention scored by a small network.

    `score(q, k) = v . tanh(W_q q + W_k k)`: the attention of the first neural
    translation systems, still at home in recurrent decoders. Each pair costs `units`
    tanh: time `O(B T S units)` and, on the dense path, that much memory; the blockwise
    path holds one tile. Multiply-adds `B (T Dq + S Dk) units + B T S (units + V)`,
    parameters `(Dq + Dk + 1) * units`.

    Shapes:
        B batch, T query length, S key length, Dq, Dk sizes of query and key, V of
        value.

    Args:
        units: Size of the hidden layer that compares query and key.
        **kwargs: `dropout`, `mask`, `flash_attention`, `seed` of `BaseAttention`, and
            those of `keras.layers.Layer`.

    Call args:
        query: `(B, T, Dq)`.
        value: `(B, S, V)`.
        key: `(B, S, Dk)`; by default the value.
        Others as in `DotProductAttention`.

    Returns:
        `(B, T, V)`, and with scores `(B, T, S)`.

    Raises:
        ValueError: for `units` below 1, or a float `attention_mask`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y = layers.AdditiveAttention(units=7)(
        ...     np.ones((2, 3, 4)), np.ones((2, 5, 6))
        ... )
        >>> tuple(y.shape)
        (2, 3, 6)

    Source:
        Bahdanau et al. 2015, arXiv:1409.0473, appendix A.1.2. `keras.layers.
        AdditiveAttention` has neither `W_q` nor `W_k`.
    """

    score = "additive"

    def __init__(self, units: int, **kwargs):
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        self.query_dense = self._dense("query", query_shape)
        self.key_dense = self._dense("key", key_shape)
        self.add_score_weights(self.units, self.units)

    def _dense(self, name, shape):
        dense = keras.layers.Dense(
            self.units, use_bias=False, name=name, dtype=self.dtype_policy
        )
        dense.build(shape)
        return dense

    def project_query(self, query):
        return self.query_dense(query)[:, :, None, :]

    def project_key(self, key):
        return self.key_dense(key)[:, :, None, :]

    def get_config(self):
        return {**super().get_config(), "units": self.units}
