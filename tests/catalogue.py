"""One row per public layer, and per configuration that takes a path of its own.

`test_contract.py` checks every property of the attention contract over every row. A
row switches a property off only with a written reason. Every axis has a prime of its
own, so that a transposition cannot go unseen.
"""

from collections.abc import Callable
from typing import Any

import keras

from keras_attention import layers, masks
from tests.recurrent import gru_cell, lstm_cell, recurrent
from tests.rows import (
    DK,
    DV,
    EXTENDED,
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
    base_options,
    names_of,
    options_of,
)

# ------------------------------------------------------------- single-head, two inputs

SAME_SIZE = ((B, T, D), (B, S, DV), (B, S, D))  # query and key live in one space
FREE_SIZE = ((B, T, D), (B, S, DV), (B, S, DK))
SINGLE = {"output": (B, T, DV), "scores": (B, T, S)}


SINGLE_HEAD = [
    Row(
        "dot_product",
        "dot_product",
        layers.DotProductAttention,
        SAME_SIZE,
        **SINGLE,
        configured=options_of(layers.DotProductAttention, scale=False),
    ),
    Row(
        "dot_product_unscaled",
        "dot_product",
        lambda **options: layers.DotProductAttention(scale=False, **options),
        SAME_SIZE,
        **SINGLE,
    ),
    Row(
        "dot_product_masked",
        "dot_product",
        lambda **options: layers.DotProductAttention(
            mask=masks.Causal() & masks.Local(3), **options
        ),
        SAME_SIZE,
        **SINGLE,
    ),
    Row(
        "general",
        "general",
        layers.GeneralAttention,
        FREE_SIZE,
        **SINGLE,
        configured=options_of(layers.GeneralAttention),
    ),
    Row(
        "additive",
        "additive",
        lambda **options: layers.AdditiveAttention(H, **options),
        FREE_SIZE,
        **SINGLE,
        configured=options_of(layers.AdditiveAttention, units=H),
    ),
    Row(
        "kernel",
        "kernel",
        lambda **options: layers.KernelAttention(3.0, **options),
        SAME_SIZE,
        **SINGLE,
    ),
    Row(
        "kernel_learnable",
        "kernel",
        lambda **options: layers.KernelAttention(3.0, learnable=True, **options),
        SAME_SIZE,
        **SINGLE,
        configured=options_of(layers.KernelAttention, bandwidth=2.0, learnable=True),
    ),
]

# ------------------------------------------------------------------------- multi-head

MULTIPLE = {"inputs": FREE_SIZE, "output": (B, T, D), "scores": (B, N, T, S)}


def multi_head(**fixed: Any) -> Callable[..., keras.layers.Layer]:
    """A factory of multi-head attention with some options fixed."""

    def make(**options):
        return layers.MultiHeadAttention(
            **{"num_heads": N, "key_dim": H, **fixed, **options}
        )

    return make


def output_bias(layer: keras.layers.Layer) -> Any:
    """The output projection of zeros."""
    return layer.output_dense.bias


def multi_head_row(name: str, **options: Any) -> Row:
    """A row of multi-head attention under `options`."""
    return Row(
        f"multi_head_{name}",
        "multi_head",
        multi_head(**options),
        **MULTIPLE,
        empty_output=output_bias,
    )


def configured_multi_head(layer: type, **further: Any) -> Callable:
    """A factory of a multi-head layer with no argument at its default."""
    options = {
        "num_heads": N,
        "key_dim": ROTARY,
        "value_dim": V,
        "use_bias": False,
        "output_shape": (29, 37),
        "attention_axes": (1,),
        "sliding_window": 4,
        "kernel_initializer": "he_normal",
        "bias_initializer": "ones",
        "kernel_regularizer": "l2",
        "bias_regularizer": "l1",
        "kernel_constraint": "non_neg",
        "bias_constraint": "max_norm",
        "use_gate": True,
        "num_key_value_heads": 1,
        "score": "general",
        "qk_norm": True,
        "logit_soft_cap": 3.0,
        "rotary": {"max_wavelength": 500.0},
        "attention_sinks": True,
        **further,
    }
    return options_of(layer, **options)


BLOCK_SUMMARY_OFF = {
    **dict.fromkeys(
        (
            "attention_mask_ranks_agree",
            "attention_mask_keeps_where_true",
            "empty_rows_of_an_attention_mask_are_zero",
            "attention_bias_adds_to_the_logits",
            "masks_are_and_ed",
        ),
        "a summary has no position: refuses `attention_mask` and `attention_bias`",
    ),
    "causal_is_aligned_to_the_end": "refuses the `attention_mask` to compare with: "
    "tested by hand against the dense form",
}
DENSE_BY_NATURE = "mixes the logits of all heads: there is the dense path alone"

MULTI_HEAD = [
    Row(
        "multi_head",
        "multi_head",
        multi_head(),
        **MULTIPLE,
        configured=configured_multi_head(layers.MultiHeadAttention),
        empty_output=output_bias,
    ),
    multi_head_row("multi_query", num_key_value_heads=1),
    Row(
        "multi_head_grouped",
        "multi_head",
        multi_head(num_heads=6, num_key_value_heads=2),
        FREE_SIZE,
        (B, T, D),
        (B, 6, T, S),
        empty_output=output_bias,
    ),
    multi_head_row("sliding_window", sliding_window=3),
    multi_head_row("mask", mask=masks.Causal() & masks.Local(3)),
    multi_head_row("gate", use_gate=True),
    multi_head_row("blockwise", flash_attention=True),
    multi_head_row("dense", flash_attention=False),
    *(
        multi_head_row(score, score=score)
        for score in ("dot", "general", "additive", "cosine", "gaussian")
    ),
    multi_head_row("qk_norm", qk_norm=True),
    multi_head_row("logit_soft_cap", logit_soft_cap=0.5),
    multi_head_row("logit_soft_cap_additive", logit_soft_cap=0.5, score="additive"),
    multi_head_row("rotary", key_dim=ROTARY, rotary=True),
    Row(
        "multi_head_sinks",
        "multi_head",
        multi_head(attention_sinks=True),
        **MULTIPLE,
        empty_output=output_bias,
        off={"score_rows_sum_to_one_or_zero": "the sink takes its share of every row"},
    ),
    Row(
        "talking_heads",
        "talking_heads",
        lambda **options: layers.TalkingHeadsAttention(N, H, **options),
        **MULTIPLE,
        configured=configured_multi_head(layers.TalkingHeadsAttention),
        empty_output=output_bias,
        off={"implementations_agree": DENSE_BY_NATURE},
    ),
    Row(
        "relative_position",
        "relative_position",
        lambda **options: layers.RelativePositionAttention(
            N, H, max_distance=3, **options
        ),
        **MULTIPLE,
        configured=configured_multi_head(
            layers.RelativePositionAttention, max_distance=4
        ),
        empty_output=output_bias,
    ),
    Row(
        "block_summary",
        "block_summary",
        lambda **options: layers.BlockSummaryAttention(N, H, 3, **options),
        FREE_SIZE,
        (B, T, D),
        (B, N, T, EXTENDED),
        configured=configured_multi_head(layers.BlockSummaryAttention, block_size=2),
        empty_output=output_bias,
        off=BLOCK_SUMMARY_OFF,
    ),
    Row(
        "multi_head_output_shape",
        "multi_head",
        multi_head(value_dim=V, output_shape=(29, 37)),
        FREE_SIZE,
        (B, T, 29, 37),
        (B, N, T, S),
        empty_output=output_bias,
    ),
    Row(
        "multi_head_attention_axes",
        "multi_head",
        multi_head(attention_axes=2),
        ((B, A, T, D), (B, A, S, DV), (B, A, S, DK)),
        (B, A, T, D),
        (B, A, N, T, S),
        empty_output=output_bias,
    ),
]

# ---------------------------------------------------------------------------- recurrent


def configured_cell() -> keras.layers.Layer:
    """A cell with no argument at its default."""
    return layers.AttentionCell(
        cell=keras.layers.GRUCell(H),
        attention=layers.AdditiveAttention(V),
        order="luong",
        name="mine",
        dtype="mixed_bfloat16",
        trainable=False,
    )


ONE_STEP = "a decoder attends with one query a step, never with all of them at once"
CELL_OFF = {
    **dict.fromkeys(
        (
            "float_attention_mask_is_refused",
            "attention_mask_ranks_agree",
            "attention_mask_keeps_where_true",
            "empty_rows_of_an_attention_mask_are_zero",
            "causal_is_aligned_to_the_end",
            "no_path_sees_the_future",
            "attention_bias_adds_to_the_logits",
            "masks_are_and_ed",
            "hidden_query_rows_are_zero",
        ),
        ONE_STEP,
    ),
    "dropout_at_inference_changes_nothing": "the cell drops no attention scores",
}

CELLS = [
    Row(
        "cell_bahdanau",
        "attention_cell",
        recurrent(
            "bahdanau",
            gru_cell,
            lambda **options: layers.AdditiveAttention(V, **options),
        ),
        ((B, T, D), (B, S, DV)),
        (B, T, H + DV),
        (B, T, S),
        configured=configured_cell,
        query_mask=None,
        off=CELL_OFF,
    ),
    Row(
        "cell_luong",
        "attention_cell",
        recurrent("luong", lstm_cell, layers.GeneralAttention),
        ((B, T, D), (B, S, DV)),
        (B, T, H + DV),
        (B, T, S),
        query_mask=None,
        off=CELL_OFF,
    ),
]

# ------------------------------------------------------- scores from the step before

ALIGNMENT_OFF = {
    "implementations_agree": "a step needs the scores before it: there is one path",
    "attention_bias_adds_to_the_logits": "the bias of a step moves later logits too",
}
MAY_WALK_OUT = {
    "score_rows_sum_to_one_or_zero": "soft monotonic: a walk may leave the memory, so "
    "that a row sums to at most 1",
}
MONOTONIC_OFF = {
    **ALIGNMENT_OFF,
    **MAY_WALK_OUT,
    "masks_are_and_ed": "never goes back, so allowed keys may score 0: the hidden ones "
    "are tested by hand",
}


def location_aware(**options: Any) -> keras.layers.Layer:
    """Location-aware attention of an odd width below the key length."""
    return layers.LocationAwareAttention(V, filters=3, kernel_size=5, **options)


def monotonic(**options: Any) -> keras.layers.Layer:
    """Soft monotonic attention."""
    return layers.MonotonicAttention(V, **options)


ALIGNMENTS = [
    Row(
        "location_aware",
        "location_aware",
        location_aware,
        FREE_SIZE,
        **SINGLE,
        configured=options_of(
            layers.LocationAwareAttention, units=H, filters=3, kernel_size=5
        ),
        off=ALIGNMENT_OFF,
    ),
    Row(
        "monotonic",
        "monotonic",
        monotonic,
        FREE_SIZE,
        **SINGLE,
        configured=options_of(layers.MonotonicAttention, units=H, offset=-2.0),
        off=MONOTONIC_OFF,
    ),
    Row(
        "cell_bahdanau_location_aware",
        "attention_cell",
        recurrent("bahdanau", gru_cell, location_aware),
        ((B, T, D), (B, S, DV)),
        (B, T, H + DV),
        (B, T, S),
        query_mask=None,
        off={**CELL_OFF, **ALIGNMENT_OFF},
    ),
    Row(
        "cell_luong_monotonic",
        "attention_cell",
        recurrent("luong", lstm_cell, monotonic),
        ((B, T, D), (B, S, DV)),
        (B, T, H + DV),
        (B, T, S),
        query_mask=None,
        off={**CELL_OFF, **MONOTONIC_OFF},
    ),
]

# ----------------------------------------------------------------- linear in the length

UNSCORED_OFF = {
    **dict.fromkeys(
        (
            "asking_for_scores_changes_nothing",
            "asking_for_scores_leaves_the_losses",
            "scores_can_be_asked_for_later",
            "score_rows_sum_to_one_or_zero",
        ),
        "never compares a query with a single key: refuses to give scores",
    ),
    **dict.fromkeys(
        (
            "attention_mask_ranks_agree",
            "attention_mask_keeps_where_true",
            "empty_rows_of_an_attention_mask_are_zero",
            "attention_bias_adds_to_the_logits",
            "masks_are_and_ed",
        ),
        "has no logits of pairs: refuses `attention_mask` and `attention_bias`",
    ),
    "causal_is_aligned_to_the_end": "refuses the `attention_mask` to compare with: "
    "tested by hand against the quadratic form",
    "implementations_agree": "never holds scores, so there is one path",
}
NOT_CAUSAL = {
    "no_path_sees_the_future": "each projected key holds the future: refuses causal"
}


def unscored_row(name: str, layer: type, off: dict[str, str], **sizes: Any) -> Row:
    """A row of a multi-head layer without scores, configured by `sizes` too."""

    def make(**options):
        return layer(**{"num_heads": N, "key_dim": H, **sizes, **options})

    def configured():
        shared = base_options()
        del shared["mask"], shared["flash_attention"]
        return make(
            value_dim=V,
            use_bias=False,
            output_shape=(29, 37),
            kernel_initializer="he_normal",
            bias_initializer="ones",
            kernel_regularizer="l2",
            bias_regularizer="l1",
            kernel_constraint="non_neg",
            bias_constraint="max_norm",
            **shared,
        )

    return Row(
        name,
        name,
        make,
        FREE_SIZE,
        (B, T, D),
        None,
        configured=configured,
        empty_output=output_bias,
        off={**UNSCORED_OFF, **off},
    )


UNSCORED = [
    unscored_row("linear", layers.LinearAttention, {}),
    unscored_row(
        "performer",
        layers.PerformerAttention,
        {},
        num_features=41,
        orthogonal=False,
    ),
    unscored_row(
        "linformer",
        layers.LinformerAttention,
        NOT_CAUSAL,
        max_sequence_length=41,
        projected_length=37,
        share_projection=True,
    ),
]

# ---------------------------------------------------------------------------- one input


ONE_QUERY = "pools to vectors of its own: there are no query positions"
POOLING_OFF = {
    **dict.fromkeys(
        (
            "float_attention_mask_is_refused",
            "attention_mask_ranks_agree",
            "attention_mask_keeps_where_true",
            "empty_rows_of_an_attention_mask_are_zero",
            "causal_is_aligned_to_the_end",
            "no_path_sees_the_future",
            "attention_bias_adds_to_the_logits",
            "masks_are_and_ed",
            "hidden_query_rows_are_zero",
        ),
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
        (
            "float_attention_mask_is_refused",
            "attention_mask_ranks_agree",
            "attention_mask_keeps_where_true",
            "empty_rows_of_an_attention_mask_are_zero",
            "attention_bias_adds_to_the_logits",
            "masks_are_and_ed",
        ),
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
            grid=(1, S),
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

# ------------------------------------------------------------------------------ biases

BIAS_OFF = {
    **NOTHING_ATTENDED,
    "output_carries_the_query_mask": "a bias is the same for all of a batch",
}


def bias_row(name: str, make: Callable, **options: Any) -> Row:
    """A row of a layer that gives an `attention_bias`."""
    return Row(
        name,
        options.pop("layer", name),
        make,
        ((B, T, D), (B, S, DV)),
        (1, N, T, S),
        None,
        query_mask=None,
        key_mask=None,
        off=BIAS_OFF,
        **options,
    )


BIASES = [
    bias_row(
        "alibi_bias",
        lambda **options: layers.AlibiBias(N, **options),
        configured=names_of(layers.AlibiBias, num_heads=N),
    ),
    bias_row(
        "relative_position_bias",
        lambda **options: layers.RelativePositionBias(N, **options),
        configured=names_of(
            layers.RelativePositionBias,
            num_heads=N,
            num_buckets=6,
            max_distance=4,
            bidirectional=False,
            initializer="he_normal",
        ),
    ),
]

ROWS = [*BIASES, *SINGLE_HEAD, *MULTI_HEAD, *CELLS, *ALIGNMENTS, *UNSCORED, *ONE_INPUT]
