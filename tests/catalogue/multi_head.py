"""Multi-head attention, its options and the layers built on it."""

from collections.abc import Callable
from typing import Any

import keras

from keras_attention import layers, masks
from tests.catalogue.single_head import FREE_SIZE
from tests.rows import (
    DK,
    DV,
    EXTENDED,
    OF_PAIRS,
    ROTARY,
    A,
    B,
    D,
    H,
    N,
    Row,
    S,
    T,
    V,
    options_of,
)

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
        OF_PAIRS,
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
