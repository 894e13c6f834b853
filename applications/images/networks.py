"""The library's image networks from their settings, for whichever task reads them."""

from typing import Any

from applications.errors import require_known
from applications.images.network_config import ImageNetworkConfig
from keras_attention import layers
from keras_attention.models.attention_cnn import ATTENTIONS


def options(config: ImageNetworkConfig, group: str) -> dict[str, Any]:
    """Arguments of `VisionTransformer` or `AttentionCNN`, but those that data decides.

    Args:
        config: Which of the two, and its sizes.
        group: The group of settings that it is, for errors.

    Raises:
        UserError: The network has no such attention.
    """
    return (
        _vision_transformer(config, group)
        if config.kind == "vit"
        else _cnn(config, group)
    )


def _vision_transformer(config: ImageNetworkConfig, group: str) -> dict[str, Any]:
    attention = config.attention or "multi_head"
    require_known(f"{group}.attention", attention, layers.multi_head())
    return {
        "patch_size": config.patch_size,
        "num_layers": config.num_layers,
        "num_heads": config.num_heads,
        "hidden_dim": config.hidden_dim,
        "intermediate_dim": config.intermediate_dim,
        "pooling": config.pooling,
        "positions": config.positions,
        "dropout": config.dropout,
        "drop_path": config.drop_path,
        "attention": attention,
    }


def _cnn(config: ImageNetworkConfig, group: str) -> dict[str, Any]:
    attention = config.attention or "none"
    require_known(f"{group}.attention", attention, ATTENTIONS)
    return {
        "filters": config.filters,
        "blocks_per_stage": config.blocks_per_stage,
        "stem_strides": config.stem_strides,
        "attention": attention,
        "dropout": config.dropout,
    }
