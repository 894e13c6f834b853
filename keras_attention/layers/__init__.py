"""Attention layers under one call contract."""

from keras_attention.layers.additive_attention import AdditiveAttention
from keras_attention.layers.alibi_bias import AlibiBias
from keras_attention.layers.attention_cell import AttentionCell
from keras_attention.layers.attention_pooling import AttentionPooling
from keras_attention.layers.axial_attention import AxialAttention
from keras_attention.layers.base import BaseAttention
from keras_attention.layers.block_summary_attention import BlockSummaryAttention
from keras_attention.layers.bottleneck_attention import BottleneckAttention
from keras_attention.layers.concurrent_squeeze_excitation import (
    ConcurrentSqueezeExcitation,
)
from keras_attention.layers.convolutional_block_attention import (
    ConvolutionalBlockAttention,
)
from keras_attention.layers.coordinate_attention import CoordinateAttention
from keras_attention.layers.dot_product_attention import DotProductAttention
from keras_attention.layers.efficient_channel_attention import EfficientChannelAttention
from keras_attention.layers.feature_map_attention import FeatureMapAttention
from keras_attention.layers.gated_attention import GatedAttention
from keras_attention.layers.general_attention import GeneralAttention
from keras_attention.layers.kernel_attention import KernelAttention
from keras_attention.layers.linear_attention import LinearAttention
from keras_attention.layers.linformer_attention import LinformerAttention
from keras_attention.layers.location_aware_attention import LocationAwareAttention
from keras_attention.layers.masked_mean_pooling import MaskedMeanPooling
from keras_attention.layers.monotonic_attention import MonotonicAttention
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.layers.patch_embedding import PatchEmbedding
from keras_attention.layers.performer_attention import PerformerAttention
from keras_attention.layers.position_embedding import PositionEmbedding
from keras_attention.layers.registry import (
    causal_multi_head,
    get,
    multi_head,
    registry,
)
from keras_attention.layers.relative_position_attention import RelativePositionAttention
from keras_attention.layers.relative_position_bias import RelativePositionBias
from keras_attention.layers.rotary_embedding import RotaryEmbedding
from keras_attention.layers.rotary_embedding_2d import RotaryEmbedding2D
from keras_attention.layers.selective_kernel import SelectiveKernel
from keras_attention.layers.sinusoidal_position_encoding import (
    SinusoidalPositionEncoding,
)
from keras_attention.layers.sinusoidal_position_encoding_2d import (
    SinusoidalPositionEncoding2D,
)
from keras_attention.layers.spatial_attention import SpatialAttention
from keras_attention.layers.squeeze_excitation import SqueezeExcitation
from keras_attention.layers.talking_heads_attention import TalkingHeadsAttention
from keras_attention.layers.temporal_attention import TemporalAttention

__all__ = [
    "AdditiveAttention",
    "AlibiBias",
    "AttentionCell",
    "AttentionPooling",
    "AxialAttention",
    "BaseAttention",
    "BlockSummaryAttention",
    "BottleneckAttention",
    "ConcurrentSqueezeExcitation",
    "ConvolutionalBlockAttention",
    "CoordinateAttention",
    "DotProductAttention",
    "EfficientChannelAttention",
    "FeatureMapAttention",
    "GatedAttention",
    "GeneralAttention",
    "KernelAttention",
    "LinearAttention",
    "LinformerAttention",
    "LocationAwareAttention",
    "MaskedMeanPooling",
    "MonotonicAttention",
    "MultiHeadAttention",
    "PatchEmbedding",
    "PerformerAttention",
    "PositionEmbedding",
    "RelativePositionAttention",
    "RelativePositionBias",
    "RotaryEmbedding",
    "RotaryEmbedding2D",
    "SelectiveKernel",
    "SinusoidalPositionEncoding",
    "SinusoidalPositionEncoding2D",
    "SpatialAttention",
    "SqueezeExcitation",
    "TalkingHeadsAttention",
    "TemporalAttention",
    "causal_multi_head",
    "get",
    "multi_head",
    "registry",
]
