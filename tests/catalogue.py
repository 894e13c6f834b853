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
    A,
    B,
    D,
    H,
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


def configured_multi_head() -> keras.layers.Layer:
    """Multi-head attention with no argument at its default."""
    return layers.MultiHeadAttention(
        num_heads=N,
        key_dim=H,
        value_dim=V,
        use_bias=False,
        output_shape=(29, 37),
        attention_axes=(1,),
        sliding_window=4,
        kernel_initializer="he_normal",
        bias_initializer="ones",
        kernel_regularizer="l2",
        bias_regularizer="l1",
        kernel_constraint="non_neg",
        bias_constraint="max_norm",
        use_gate=True,
        num_key_value_heads=1,
        score="general",
        **base_options(),
    )


MULTI_HEAD = [
    Row(
        "multi_head",
        "multi_head",
        multi_head(),
        **MULTIPLE,
        configured=configured_multi_head,
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
        activity_regularizer="l2",
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

# ---------------------------------------------------------------------------- one input


ONE_QUERY = "one learned query: there are no query positions"
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
    "implementations_agree": "one query needs one row of scores: there is one path",
}
NO_SCORES = dict.fromkeys(
    (
        "asking_for_scores_changes_nothing",
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

ONE_INPUT = [
    Row(
        "attention_pooling",
        "attention_pooling",
        layers.AttentionPooling,
        ((B, S, D),),
        (B, D),
        (B, S),
        configured=names_of(layers.AttentionPooling),
        query_mask=None,
        key_mask="mask",
        hidden=0,
        off=POOLING_OFF,
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

ROWS = [*SINGLE_HEAD, *MULTI_HEAD, *CELLS, *ONE_INPUT]
