"""The registry: every public layer by name.

The contract tests run over it and applications switch mechanisms by one key of it. A
new layer is one file and one row here.
"""

from typing import Any

import keras

from keras_attention.errors import one_of
from keras_attention.layers.additive_attention import AdditiveAttention
from keras_attention.layers.attention_cell import AttentionCell
from keras_attention.layers.attention_pooling import AttentionPooling
from keras_attention.layers.dot_product_attention import DotProductAttention
from keras_attention.layers.general_attention import GeneralAttention
from keras_attention.layers.kernel_attention import KernelAttention
from keras_attention.layers.masked_mean_pooling import MaskedMeanPooling
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.layers.position_embedding import PositionEmbedding
from keras_attention.layers.sinusoidal_position_encoding import (
    SinusoidalPositionEncoding,
)

_LAYERS: dict[str, type[keras.layers.Layer]] = {
    "additive": AdditiveAttention,
    "attention_cell": AttentionCell,
    "attention_pooling": AttentionPooling,
    "dot_product": DotProductAttention,
    "general": GeneralAttention,
    "kernel": KernelAttention,
    "masked_mean_pooling": MaskedMeanPooling,
    "multi_head": MultiHeadAttention,
    "position_embedding": PositionEmbedding,
    "sinusoidal_position_encoding": SinusoidalPositionEncoding,
}


def registry() -> dict[str, type[keras.layers.Layer]]:
    """All public layers by name."""
    return dict(_LAYERS)


def get(layer: str, /, **options: Any) -> keras.layers.Layer:
    """A new layer by name.

    Args:
        layer: A key of `registry()`.
        **options: Arguments of the layer's constructor, `name` among them.

    Raises:
        ValueError: for an unknown name, listing the valid ones.
    """
    return _LAYERS[one_of("layer", layer, _LAYERS)](**options)
