"""What the layers share whose output is an `attention_bias` of positions."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer
from keras_attention.ops import _backend

Tensor = Any


class PositionBias(keras.layers.Layer):
    """Base of the bias layers: lengths in, `(1, N, T, S)` out.

    Args:
        num_heads: Number of heads, N.
        **kwargs: Those of `keras.layers.Layer`.
    """

    def __init__(self, num_heads: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.num_heads = positive_integer("num_heads", num_heads)
        self.supports_masking = True  # or it warns that it drops the mask

    def build(self, query_shape=None, key_shape=None):
        """Create the weights, which no shape changes; here there are none."""

    def bias(
        self, query_length: Any, key_length: Any, query_offset: Any = None
    ) -> Tensor:
        """The bias `(1, N, T, S)`; what a variant overrides."""
        raise NotImplementedError

    def call(self, query, key=None, query_offset=None):
        key = query if key is None else key
        bias = self.bias(_length(query), _length(key), query_offset)
        return ops.cast(bias, self.compute_dtype)

    def compute_mask(self, inputs, previous_mask):
        return None

    def compute_output_spec(self, query, key=None, query_offset=None):
        key = query if key is None else key
        lengths = (x if isinstance(x, int) else x.shape[1] for x in (query, key))
        shape = (1, self.num_heads, *lengths)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "num_heads": self.num_heads}


def _length(given: Any) -> Any:
    """A length, or that of a tensor `(B, L, ...)`."""
    return given if isinstance(given, int) else _backend.sizes(given)[1]
