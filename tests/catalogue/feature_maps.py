"""Layers of one feature map: gates, a convolution that is chosen, self-attention.

Contract tests keep channels last, where masks have the axes of what they hide;
`test_feature_map.py` holds the other format against it.
"""

from collections.abc import Callable
from typing import Any

from keras_attention import layers
from tests.catalogue.multi_head import output_bias
from tests.catalogue.one_input import AXIAL_OFF
from tests.rows import ROTARY, B, D, H, N, Row, T, V, names_of, options_of

MAP = (B, H, T, D)  # the height is known when a model is built, the width is not
PATHS_OFF = {
    "dropout_at_inference_changes_nothing": "a gate drops nothing in training",
    "implementations_agree": "a gate is small: it is computed in one way",
}
GATE_OFF = {
    **AXIAL_OFF,
    **PATHS_OFF,
    "score_rows_sum_to_one_or_zero": "every number of a gate is a sigmoid of its own",
}
NO_POSITIONS = {
    "hidden_query_rows_are_zero": "the gate has no positions: its output by hand",
}


def gate_row(name: str, layer: type, scores, *, off: dict = GATE_OFF, **options: Any):
    """A row of a layer that weighs a map; `options` are all it takes beside a format.

    What is checked has other defaults only where D channels are few for a ratio, and
    as many convolutions as axes of no other size.
    """
    named = {"ratio": 5, "min_units": 1, "dilation_rates": (1, 2, 4)}
    made = {key: value for key, value in named.items() if key in options}

    def make(**more: Any):
        return layer(**{**made, **more})

    configured = names_of(layer, **options, data_format="channels_first")
    return _row(name, make, MAP, scores, configured=configured, off=off)


def _row(name: str, make: Callable, shape, scores, **options: Any) -> Row:
    masks = {"query_mask": "mask", "key_mask": "mask", "hidden": 0}
    return Row(name, name, make, (shape,), shape, scores, **masks, **options)


CHANNELS, POSITIONS = (B, 1, 1, D), (B, H, T, 1)

FEATURE_MAPS = [
    gate_row(
        "squeeze_excitation",
        layers.SqueezeExcitation,
        CHANNELS,
        ratio=3,
        pooling="mean_max",
        activation="silu",
        gate_activation="hard_sigmoid",
        use_bias=False,
        off={**GATE_OFF, **NO_POSITIONS},
    ),
    gate_row(
        "efficient_channel",
        layers.EfficientChannelAttention,
        CHANNELS,
        kernel_size=5,
        gamma=3,
        b=2,
        off={**GATE_OFF, **NO_POSITIONS},
    ),
    gate_row(
        "spatial", layers.SpatialAttention, POSITIONS, kernel_size=5, use_bias=True
    ),
    gate_row(
        "cbam",
        layers.ConvolutionalBlockAttention,
        MAP,
        ratio=3,
        kernel_size=5,
        use_bias=True,
    ),
    gate_row("bam", layers.BottleneckAttention, MAP, ratio=3, dilation_rate=2),
    gate_row(
        "coordinate",
        layers.CoordinateAttention,
        MAP,
        ratio=3,
        min_units=2,
        activation="relu",
    ),
    gate_row("sc_se", layers.ConcurrentSqueezeExcitation, MAP, ratio=3, combine="max"),
    gate_row(
        "selective_kernel",
        layers.SelectiveKernel,
        (*CHANNELS, 3),
        dilation_rates=(1, 2, 3),
        kernel_size=5,
        groups=H,
        ratio=3,
        min_units=2,
        off={**AXIAL_OFF, **PATHS_OFF, **NO_POSITIONS},
    ),
    _row(
        "feature_map",
        lambda **options: layers.FeatureMapAttention(N, H, **options),
        MAP,
        (B, N, H, T, H, T),
        configured=options_of(
            layers.FeatureMapAttention,
            num_heads=N,
            key_dim=ROTARY,
            rotary_grid=(T, D),
            attention_options={"value_dim": V, "use_bias": False},
            data_format="channels_first",
        ),
        empty_output=lambda layer: output_bias(layer.attention),
        off={
            **AXIAL_OFF,
            "score_rows_sum_to_one_or_zero": "a row has two axes: tested by hand",
            "hidden_query_rows_are_zero": "a query has two axes: tested by hand",
        },
    ),
]
