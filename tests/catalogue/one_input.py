"""Layers of one input: pooling, axes, positions."""

from collections.abc import Callable
from typing import Any

from keras_attention import layers
from tests.catalogue.multi_head import output_bias
from tests.rows import (
    OF_PAIRS,
    OF_QUERIES,
    ROTARY,
    A,
    B,
    D,
    H,
    K,
    N,
    Row,
    S,
    T,
    V,
    names_of,
    options_of,
)

ONE_QUERY = "pools to vectors of its own: there are no query positions"
POOLING_OFF = {
    **dict.fromkeys(
        OF_QUERIES,
        ONE_QUERY,
    ),
    "output_carries_the_query_mask": "the time axis is gone, and its mask with it",
    "dropout_at_inference_changes_nothing": "pooling drops no scores",
    "implementations_agree": "few queries need few rows of scores: there is one path",
}
NO_SCORES = dict.fromkeys(
    (
        "asking_for_scores_changes_nothing",
        "asking_for_scores_leaves_the_losses",
        "scores_can_be_asked_for_later",
        "score_rows_sum_to_one_or_zero",
    ),
    "a plain mean or a position code has no attention scores",
)
NOTHING_ATTENDED = {
    **POOLING_OFF,
    **NO_SCORES,
    **dict.fromkeys(
        (
            *POOLING_OFF,
            "float_padding_mask_is_refused",
            "sequences_without_keys_are_zero",
            "nan_at_hidden_positions_goes_nowhere",
            "explicit_mask_replaces_the_hidden_one",
        ),
        "adds a code to every position: it attends nothing and needs no mask",
    ),
}
del NOTHING_ATTENDED["output_carries_the_query_mask"]

ONE_TENSOR = "one tensor has a mask of positions and none of pairs"
FUTURE_IN_QUERY = "the only input holds keys and queries: tested by hand"
AXIAL_OFF = {
    **dict.fromkeys(
        ("float_attention_mask_is_refused", *OF_PAIRS),
        ONE_TENSOR,
    ),
    "causal_is_aligned_to_the_end": FUTURE_IN_QUERY,
    "no_path_sees_the_future": FUTURE_IN_QUERY,
}


def pooling_row(name: str, make: Callable, output, scores, **options: Any) -> Row:
    """A row of a layer that pools `(B, S, D)` by scores; the layer is in `options`."""
    return Row(
        name,
        options.pop("layer", name),
        make,
        ((B, S, D),),
        output,
        scores,
        query_mask=None,
        key_mask="mask",
        hidden=0,
        off=POOLING_OFF,
        **options,
    )


ONE_INPUT = [
    pooling_row(
        "attention_pooling",
        layers.AttentionPooling,
        (B, D),
        (B, S),
        configured=names_of(
            layers.AttentionPooling, num_queries=K, num_heads=N, key_dim=H
        ),
    ),
    pooling_row(
        "attention_pooling_queries",
        lambda **options: layers.AttentionPooling(K, **options),
        (B, K, D),
        (B, K, S),
        layer="attention_pooling",
    ),
    pooling_row(
        "attention_pooling_heads",
        lambda **options: layers.AttentionPooling(K, N, H, **options),
        (B, K, D),
        (B, N, K, S),
        layer="attention_pooling",
        empty_output=lambda layer: output_bias(layer.attention),
    ),
    pooling_row(
        "gated",
        lambda **options: layers.GatedAttention(H, **options),
        (B, D),
        (B, S),
        configured=names_of(layers.GatedAttention, units=H, use_bias=True),
    ),
    pooling_row(
        "temporal",
        layers.TemporalAttention,
        (B, D),
        (B, S),
        configured=names_of(layers.TemporalAttention),
    ),
    Row(
        "axial",
        "axial",
        lambda **options: layers.AxialAttention(-2, N, H, **options),
        ((B, A, T, D),),
        (B, A, T, D),
        (B, A, N, T, T),
        configured=options_of(
            layers.AxialAttention,
            axis=(2, 1),
            num_heads=N,
            key_dim=H,
            attention_options={"value_dim": V, "use_bias": False},
        ),
        query_mask="mask",
        key_mask="mask",
        hidden=0,
        empty_output=lambda layer: output_bias(layer.attentions[0]),
        off=AXIAL_OFF,
    ),
    Row(
        "masked_mean_pooling",
        "masked_mean_pooling",
        layers.MaskedMeanPooling,
        ((B, S, D),),
        (B, D),
        None,
        configured=names_of(layers.MaskedMeanPooling),
        query_mask=None,
        key_mask="mask",
        hidden=0,
        off={**POOLING_OFF, **NO_SCORES},
    ),
    Row(
        "position_embedding",
        "position_embedding",
        lambda **options: layers.PositionEmbedding(41, **options),
        ((B, T, D),),
        (B, T, D),
        None,
        configured=names_of(
            layers.PositionEmbedding, max_sequence_length=41, initializer="he_normal"
        ),
        query_mask=None,
        key_mask=None,
        off=NOTHING_ATTENDED,
    ),
    Row(
        "sinusoidal_position_encoding_2d",
        "sinusoidal_position_encoding_2d",
        layers.SinusoidalPositionEncoding2D,
        ((B, T, S, ROTARY),),
        (B, T, S, ROTARY),
        None,
        configured=names_of(
            layers.SinusoidalPositionEncoding2D, max_wavelength=500.0, grid=(1, S)
        ),
        query_mask=None,
        key_mask=None,
        off=NOTHING_ATTENDED,
    ),
    Row(
        "rotary_embedding",
        "rotary_embedding",
        layers.RotaryEmbedding,
        ((B, T, N, ROTARY),),
        (B, T, N, ROTARY),
        None,
        configured=names_of(
            layers.RotaryEmbedding,
            max_wavelength=500.0,
            scaling=2.0,
            scaling_type="ntk",
            interleaved=True,
        ),
        query_mask=None,
        key_mask=None,
        off=NOTHING_ATTENDED,
    ),
    Row(
        "rotary_embedding_2d",
        "rotary_embedding_2d",
        layers.RotaryEmbedding2D,
        ((B, T, S, N, ROTARY),),
        (B, T, S, N, ROTARY),
        None,
        configured=names_of(
            layers.RotaryEmbedding2D,
            max_wavelength=500.0,
            scaling=2.0,
            scaling_type="ntk",
            interleaved=True,
            grid=(1, S - 2),
            num_prefix_tokens=2,
        ),
        query_mask=None,
        key_mask=None,
        off=NOTHING_ATTENDED,
    ),
    Row(
        "sinusoidal_position_encoding",
        "sinusoidal_position_encoding",
        layers.SinusoidalPositionEncoding,
        ((B, T, D),),
        (B, T, D),
        None,
        configured=names_of(layers.SinusoidalPositionEncoding, max_wavelength=500.0),
        query_mask=None,
        key_mask=None,
        off=NOTHING_ATTENDED,
    ),
]
