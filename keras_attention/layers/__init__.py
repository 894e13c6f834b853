"""Attention layers under one call contract."""

from keras_attention.layers.additive_attention import AdditiveAttention
from keras_attention.layers.attention_cell import AttentionCell
from keras_attention.layers.attention_pooling import AttentionPooling
from keras_attention.layers.base import BaseAttention
from keras_attention.layers.dot_product_attention import DotProductAttention
from keras_attention.layers.general_attention import GeneralAttention
from keras_attention.layers.kernel_attention import KernelAttention
from keras_attention.layers.masked_mean_pooling import MaskedMeanPooling
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.layers.position_embedding import PositionEmbedding
from keras_attention.layers.registry import get, registry
from keras_attention.layers.sinusoidal_position_encoding import (
    SinusoidalPositionEncoding,
)

__all__ = [
    "AdditiveAttention",
    "AttentionCell",
    "AttentionPooling",
    "BaseAttention",
    "DotProductAttention",
    "GeneralAttention",
    "KernelAttention",
    "MaskedMeanPooling",
    "MultiHeadAttention",
    "PositionEmbedding",
    "SinusoidalPositionEncoding",
    "get",
    "registry",
]
