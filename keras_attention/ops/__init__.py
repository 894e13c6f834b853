"""The mathematics of attention: stateless functions on tensors.

Ops take `query, key, value` (as `keras.ops` does); layers take `query, value, key`.
"""

from keras_attention.ops import linear, masks, positions, scores
from keras_attention.ops.attention import attend
from keras_attention.ops.positions import sinusoidal_encoding
from keras_attention.ops.softmax import masked_softmax
from keras_attention.ops.talking_heads import attend_talking_heads

__all__ = [
    "attend",
    "attend_talking_heads",
    "linear",
    "masked_softmax",
    "masks",
    "positions",
    "scores",
    "sinusoidal_encoding",
]
