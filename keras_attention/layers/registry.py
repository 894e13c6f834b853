"""The registry: every public layer by name.

The contract tests run over it and applications switch mechanisms by one key of it. A
new layer is one file and one row here.
"""

import inspect
from typing import Any

import keras

from keras_attention.errors import one_of
from keras_attention.layers.additive_attention import AdditiveAttention
from keras_attention.layers.alibi_bias import AlibiBias
from keras_attention.layers.attention_cell import AttentionCell
from keras_attention.layers.attention_pooling import AttentionPooling
from keras_attention.layers.axial_attention import AxialAttention
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

_LAYERS: dict[str, type[keras.layers.Layer]] = {
    "additive": AdditiveAttention,
    "alibi_bias": AlibiBias,
    "attention_cell": AttentionCell,
    "attention_pooling": AttentionPooling,
    "axial": AxialAttention,
    "bam": BottleneckAttention,
    "block_summary": BlockSummaryAttention,
    "cbam": ConvolutionalBlockAttention,
    "coordinate": CoordinateAttention,
    "dot_product": DotProductAttention,
    "efficient_channel": EfficientChannelAttention,
    "feature_map": FeatureMapAttention,
    "gated": GatedAttention,
    "general": GeneralAttention,
    "kernel": KernelAttention,
    "linear": LinearAttention,
    "linformer": LinformerAttention,
    "location_aware": LocationAwareAttention,
    "masked_mean_pooling": MaskedMeanPooling,
    "monotonic": MonotonicAttention,
    "multi_head": MultiHeadAttention,
    "patch_embedding": PatchEmbedding,
    "performer": PerformerAttention,
    "position_embedding": PositionEmbedding,
    "relative_position": RelativePositionAttention,
    "relative_position_bias": RelativePositionBias,
    "rotary_embedding": RotaryEmbedding,
    "rotary_embedding_2d": RotaryEmbedding2D,
    "sc_se": ConcurrentSqueezeExcitation,
    "selective_kernel": SelectiveKernel,
    "sinusoidal_position_encoding": SinusoidalPositionEncoding,
    "sinusoidal_position_encoding_2d": SinusoidalPositionEncoding2D,
    "spatial": SpatialAttention,
    "squeeze_excitation": SqueezeExcitation,
    "talking_heads": TalkingHeadsAttention,
    "temporal": TemporalAttention,
}


def registry() -> dict[str, type[keras.layers.Layer]]:
    """All public layers by name."""
    return dict(_LAYERS)


def multi_head() -> dict[str, type[keras.layers.Layer]]:
    """Those of a query and a value that need no more than heads and their size.

    Transformer blocks can be made of them by name alone.
    """
    return {
        name: layer
        for name, layer in _LAYERS.items()
        if _needed(layer) == {"num_heads", "key_dim"} and _is_two_input(layer)
    }


def causal_multi_head() -> dict[str, type[keras.layers.Layer]]:
    """Multi-head layers of a query and a value that can hide the future.

    What a language model can be made of by name; `block_summary` needs a `block_size`
    besides heads and their size.
    """
    return {
        name: layer
        for name, layer in _LAYERS.items()
        if _needed(layer) >= {"num_heads", "key_dim"}
        and _is_two_input(layer)
        and getattr(layer, "can_be_causal", True)
    }


def _is_two_input(layer: type[keras.layers.Layer]) -> bool:
    return {"query", "value"} <= set(inspect.signature(layer.call).parameters)


def _needed(layer: type) -> set[str]:
    """The arguments of its constructor without a default."""
    return {
        name
        for name, parameter in inspect.signature(layer).parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind is not parameter.VAR_KEYWORD
    }


def get(layer: str, /, **options: Any) -> keras.layers.Layer:
    """A new layer by name.

    Args:
        layer: A key of `registry()`.
        **options: Arguments of the layer's constructor, `name` among them.

    Raises:
        ValueError: for an unknown name, listing the valid ones.
    """
    return _LAYERS[one_of("layer", layer, _LAYERS)](**options)
