"""Layers that give a bias for positions."""

from collections.abc import Callable
from typing import Any

from keras_attention import layers
from tests.catalogue.one_input import NOTHING_ATTENDED
from tests.rows import (
    DV,
    B,
    D,
    N,
    Row,
    S,
    T,
    names_of,
)

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
