"""Recommenders by the settings of a run, and what they learn by."""

import keras

from applications.errors import require_known, told_to_users
from applications.recommendation.presets import RecommendationConfig
from keras_attention import layers, losses, models


def build(config: RecommendationConfig, num_items: int) -> keras.Model:
    """The model of a run.

    Raises:
        UserError: The attention is unknown, or cannot do what the kind needs.
    """
    require_attention(config)
    sizes = config.model
    with told_to_users():
        return models.SequenceRecommender(
            num_items,
            sizes.kind,
            hidden_dim=sizes.hidden_dim,
            intermediate_dim=sizes.intermediate_dim,
            num_layers=sizes.num_layers,
            num_heads=sizes.num_heads,
            max_sequence_length=config.data.max_length,
            dropout=sizes.dropout,
            item_dropout=sizes.item_dropout,
            attention=sizes.attention,
            sampled_softmax=config.samples,
        )


def loss(config: RecommendationConfig) -> keras.losses.Loss:
    """Over all items or over sampled ones."""
    return (
        losses.SampledCrossentropy() if config.samples else losses.MaskedCrossentropy()
    )


def require_attention(config: RecommendationConfig) -> None:
    """Refuse an attention that the model cannot use.

    Raises:
        UserError: There is none of that name, or it cannot hide the future.
    """
    kind, attention = config.model.kind, config.model.attention
    if kind == "sasrec":
        require_known("model.attention", attention, sorted(layers.causal_multi_head()))
    elif kind in ("bert4rec", "din"):
        require_known("model.attention", attention, sorted(layers.multi_head()))
