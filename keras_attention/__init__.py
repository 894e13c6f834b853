"""Attention for Keras 3: every mechanism under one contract, on three backends."""

from keras_attention import layers, ops
from keras_attention.ops import masks

__all__ = ["layers", "masks", "ops"]
__version__ = "0.1.0"
