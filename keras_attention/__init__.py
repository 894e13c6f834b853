"""Attention for Keras 3: every mechanism under one contract, on three backends."""

from keras_attention import (
    blocks,
    costs,
    decoding,
    export,
    interpretation,
    layers,
    losses,
    metrics,
    models,
    ops,
)
from keras_attention.ops import masks

__all__ = [
    "blocks",
    "costs",
    "decoding",
    "export",
    "interpretation",
    "layers",
    "losses",
    "masks",
    "metrics",
    "models",
    "ops",
]
__version__ = "0.1.0"
