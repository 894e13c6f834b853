"""The mathematics of attention: stateless functions on tensors.

Ops take `query, key, value` (as `keras.ops` does); layers take `query, value, key`.
"""

from keras_attention.ops import masks, scores
from keras_attention.ops.attention import attend
from keras_attention.ops.positions import sinusoidal_encoding
from keras_attention.ops.softmax import masked_softmax

__all__ = ["attend", "masked_softmax", "masks", "scores", "sinusoidal_encoding"]
