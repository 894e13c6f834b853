"""Attention pooling as kernel regression."""

import math

import keras
from keras import ops

from keras_attention.errors import require
from keras_attention.layers.base import BaseAttention


@keras.saving.register_keras_serializable(package="keras_attention")
class KernelAttention(BaseAttention):
    """Nadaraya-Watson kernel regression with a Gaussian kernel.

    `f(q) = sum_i w_i v_i` with `w_i` proportional to `exp(-|q - k_i|^2 / (2 h^2))`:
    queries are where the function is asked for, keys are the known inputs, values the
    known outputs. A small bandwidth `h` follows single points, a wide one approaches
    the mean of all values. Time `O(B T S H)`; multiply-adds `B T S V` (distances are no
    matrix product); one parameter if learnable, else none.

    Shapes:
        B batch, T query length, S key length, H size of query and key, V of value.

    Args:
        bandwidth: `h > 0`, in the units of query and key.
        learnable: Train the bandwidth (kept positive through its logarithm).
        **kwargs: `dropout`, `mask`, `flash_attention`, `seed` of `BaseAttention`, and
            those of `keras.layers.Layer`.

    Call args:
        query: `(B, T, H)`.
        value: `(B, S, V)`.
        key: `(B, S, H)`; by default the value, which is seldom what you want here.
        Others as in `DotProductAttention`.

    Returns:
        `(B, T, V)`, and with scores `(B, T, S)`.

    Raises:
        ValueError: for a bandwidth that is not positive, or a float `attention_mask`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> x, y = np.zeros((1, 3, 1)), np.array([[[1.0], [2.0], [6.0]]])
        >>> mean = layers.KernelAttention(bandwidth=1.0)(x, y, x)
        >>> float(mean[0, 0, 0])
        3.0

    Source:
        Nadaraya 1964; Watson 1964.
    """

    score = "gaussian"

    def __init__(self, bandwidth: float = 1.0, learnable: bool = False, **kwargs):
        super().__init__(**kwargs)
        require(
            isinstance(bandwidth, (int, float)) and bandwidth > 0,
            "`bandwidth` must be a positive number.",
            bandwidth=bandwidth,
        )
        self.bandwidth = float(bandwidth)
        self.learnable = learnable

    def build(self, query_shape, value_shape, key_shape=None):
        if self.learnable:
            start = keras.initializers.Constant(math.log(self.bandwidth))
            self.log_bandwidth = self.add_weight(
                shape=(), initializer=start, name="log_bandwidth"
            )

    def score_weights(self):
        if self.learnable:
            return (ops.exp(self.log_bandwidth),)
        return (ops.convert_to_tensor(self.bandwidth, dtype=self.compute_dtype),)

    def get_config(self):
        return {
            **super().get_config(),
            "bandwidth": self.bandwidth,
            "learnable": self.learnable,
        }
