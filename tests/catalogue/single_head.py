"""Two inputs, one head."""

from keras_attention import layers, masks
from tests.rows import (
    DK,
    DV,
    B,
    D,
    H,
    Row,
    S,
    T,
    options_of,
)

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
