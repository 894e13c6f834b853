"""Attention for Keras 3: every mechanism under one contract, on three backends."""

from keras_attention import blocks, decoding, layers, models, ops
from keras_attention.ops import masks

__all__ = ["blocks", "decoding", "layers", "masks", "models", "ops"]
__version__ = "0.1.0"
