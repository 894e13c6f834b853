"""One row per public layer, and per configuration that takes a path of its own.

`test_contract.py` checks every property of the attention contract over every row. A row
switches a property off only with a written reason. Every axis has a prime of its own, so
that a transposition cannot go unseen.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import keras
import numpy as np

from keras_attention import layers, masks
from keras_attention.layers.base import ScoresOnRequest
from tests.backend import tensor

B, T, S = 2, 5, 7  # batch, query length, key length
N, H, V = 3, 11, 13  # heads, head size, value head size
A = 31  # an axis that is not attended
D, DV, DK = 17, 19, 23  # sizes of query, value and key

# What becomes `None` where shapes are only known at run time.
DYNAMIC = {B, T, S, A}


@dataclass(frozen=True)
class Row:
    """A layer under test.

    Attributes:
        name: Shown in test ids.
        layer: The layer's key in `layers.registry()`.
        make: Factory of the layer as it is called; takes further constructor options.
        inputs: Shapes of the positional call arguments.
        output: Shape of the (first) output.
        scores: Shape of the attention scores, `None` where there are none.
        configured: Factory of the public layer with no argument at its default.
        query_mask: Call argument that hides rows of the first input.
        key_mask: Call argument that hides what is attended.
        hidden: Index of the input that `key_mask` belongs to.
        empty_output: What a row with nothing to attend gives, from the layer.
        off: Properties switched off, each with its reason.
    """

    name: str
    layer: str
    make: Callable[..., keras.layers.Layer]
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    scores: tuple[int, ...] | None
    configured: Callable[[], keras.layers.Layer] | None = None
    query_mask: str | None = "query_mask"
    key_mask: str | None = "value_mask"
    hidden: int = 1
    empty_output: Callable[[keras.layers.Layer], Any] = lambda layer: 0.0
    off: dict[str, str] = field(default_factory=dict)

    def tensors(self, seed: int = 0) -> list:
        """New random inputs."""
        return [tensor(*shape, seed=seed + i) for i, shape in enumerate(self.inputs)]

    def built(self, **options: Any) -> keras.layers.Layer:
        """A called layer; rows of one layer get the same random weights."""
        layer = self.make(**options)
        layer(*self.tensors())
        generator = np.random.default_rng(1)
        weights = layer.get_weights()
        # Scalars, such as a bandwidth, only make sense where they start.
        layer.set_weights(
            [0.3 * generator.normal(size=w.shape) if w.ndim else w for w in weights]
        )
        return layer

    def query_padding(self) -> np.ndarray:
        """A mask for `query_mask` with real and padded positions in each sequence."""
        return _padding(self.inputs[0][:-1], seed=3)

    def key_padding(self) -> np.ndarray:
        """A mask for `key_mask` with real and padded positions in each sequence."""
        return _padding(self.inputs[self.hidden][:-1], seed=4)


def _padding(shape: tuple[int, ...], seed: int) -> np.ndarray:
    mask = np.random.default_rng(seed).integers(0, 2, shape).astype(bool)
    mask[..., 0], mask[..., 1] = True, False
    return mask


# ------------------------------------------------------------- single-head, two inputs

SAME_SIZE = ((B, T, D), (B, S, DV), (B, S, D))  # query and key live in one space
FREE_SIZE = ((B, T, D), (B, S, DV), (B, S, DK))
SINGLE = {"output": (B, T, DV), "scores": (B, T, S)}


def base_options() -> dict[str, Any]:
    """The options of every two-input layer, off their defaults."""
    return {
        "dropout": 0.25,
        "mask": masks.Causal() & masks.Local(4) | masks.Local(2),
        "flash_attention": False,
        "seed": 29,
        "name": "mine",
        "dtype": "mixed_bfloat16",
        "trainable": False,
        "activity_regularizer": "l2",
    }


def options_of(make: Callable, **options: Any) -> Callable[[], keras.layers.Layer]:
    """A factory of `make` with every option off its default."""
    return lambda: make(**options, **base_options())


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


@keras.saving.register_keras_serializable(package="tests")
class Recurrent(ScoresOnRequest, keras.layers.Layer):
    """An `AttentionCell` run over a sequence: the call contract around a cell."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.cell = cell
        self.rnn = keras.layers.RNN(
            cell, return_sequences=True, dtype=self.dtype_policy
        )
        self.supports_masking = True

    def build(self, query_shape, value_shape):
        self.cell.build_for(query_shape, value_shape)

    def call(self, query, value, value_mask=None, return_attention_scores=False):
        state = self.cell.memory_state(value, value_mask)
        output = self.rnn(query, initial_state=state)
        if not return_attention_scores:
            return output
        return output, self.cell.alignments(output, state)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_spec(
        self, query, value, value_mask=None, return_attention_scores=False
    ):
        shape = (*query.shape[:2], self.cell.units + value.shape[-1])
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        shape = (*query.shape[:2], value.shape[1])
        return output, keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        cell = keras.saving.serialize_keras_object(self.cell)
        return {**super().get_config(), "cell": cell}

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config.pop("cell"))
        return cls(cell, **config)


# TensorFlow has no bfloat16 kernel for the default, orthogonal initializer.
gru_cell = partial(keras.layers.GRUCell, recurrent_initializer="glorot_uniform")
lstm_cell = partial(keras.layers.LSTMCell, recurrent_initializer="glorot_uniform")


def recurrent(order: str, cell: Callable, attention: Callable) -> Callable:
    """A factory of a cell in its loop; further options go to the attention."""

    def make(dtype=None, **options):
        wrapped = layers.AttentionCell(
            cell(H, dtype=dtype), attention(dtype=dtype, **options), order, dtype=dtype
        )
        return Recurrent(wrapped, dtype=dtype)

    return make


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


def names_of(layer: type, **options: Any) -> Callable[[], keras.layers.Layer]:
    """A factory with the options of every Keras layer off their defaults."""
    shared = base_options()
    kept = ("name", "dtype", "trainable", "activity_regularizer")
    return lambda: layer(**options, **{key: shared[key] for key in kept})


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
