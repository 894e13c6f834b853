"""Attention cells in their loop, and scores that need the step before."""

from typing import Any

import keras

from keras_attention import layers
from tests.catalogue.single_head import FREE_SIZE, SINGLE
from tests.recurrent import gru_cell, lstm_cell, recurrent
from tests.rows import (
    DV,
    OF_QUERIES,
    B,
    D,
    H,
    Row,
    S,
    T,
    V,
    options_of,
)


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
        OF_QUERIES,
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
            layers.LocationAwareAttention,
            units=H,
            filters=3,
            kernel_size=5,
            cumulative=True,
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

RECURRENT = [*CELLS, *ALIGNMENTS]
