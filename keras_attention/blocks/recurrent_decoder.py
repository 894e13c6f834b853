"""Recurrent decoder, with attention or with a fixed summary."""

from typing import Any

import keras
from keras import ops

from keras_attention import layers
from keras_attention.errors import one_of, positive_integer, require
from keras_attention.layers.attention_cell import ORDERS
from keras_attention.layers.base import (
    ScoresOnRequest,
    call_arguments,
    carry_mask,
    zero_rows,
)

Tensor = Any

# Layers of the registry that compare in a hidden layer, with what they are given.
WITH_UNITS = {
    "additive": {},
    "location_aware": {},
    "monotonic": {},
    "coverage": {"filters": 1, "kernel_size": 1, "cumulative": True},
}
ATTENTIONS = (*WITH_UNITS, "general", "dot_product", "none")


@keras.saving.register_keras_serializable(package="keras_attention")
class RecurrentDecoder(ScoresOnRequest, keras.layers.Layer):
    """A GRU that reads a memory by attention, or only a fixed summary of it.

    With attention each step sees the context of `AttentionCell`; with `"none"` it sees
    the same summary vector at every step, the bottleneck that attention was invented to
    remove. The output is `tanh(W [h_t, c_t])`. Time `O(B T (U^2 + S U))`.

    Shapes:
        B batch, T steps, S memory length, D_in input size, D memory size, U `units`.

    Args:
        units: Size of the state and of the output, U.
        attention: `"additive"`, `"general"`, `"dot_product"`, `"location_aware"` or
            `"monotonic"` (both for speech), `"coverage"` (additive, sees how much each
            place has been looked at; for summaries), or `"none"`.
        order: `"bahdanau"` or `"luong"`, see `AttentionCell`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, T, D_in)`.
        memory: `(B, S, D)`.
        summary: `(B, D_s)`, makes the first state; without attention also the context.
        memory_mask: `(B, S)`, True = a real position; by default the hidden mask.
        return_attention_scores: Also return the alignments.
        inputs_mask: `(B, T)`, True = a real step; by default the hidden mask. A padded
            step is one whose input is 0.

    Returns:
        `(B, T, U)`, and with scores `(B, T, S)`.

    Raises:
        ValueError: for an unknown attention or order, or scores asked for without
            attention.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import blocks
        >>> decoder = blocks.RecurrentDecoder(units=6, attention="additive")
        >>> x, memory = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 8), "float32")
        >>> y, scores = decoder(x, memory, memory[:, 0], return_attention_scores=True)
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 3, 6), (2, 3, 5))

    Source:
        Bahdanau et al. 2015, arXiv:1409.0473; Luong et al. 2015, arXiv:1508.04025;
        without attention Cho et al. 2014, arXiv:1406.1078; coverage See et al. 2017,
        arXiv:1704.04368, a `LocationAwareAttention` of one cumulative filter of
        width 1.
    """

    def __init__(self, units, attention="additive", order="bahdanau", **kwargs):
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        self.attention = one_of("attention", attention, ATTENTIONS)
        self.order = one_of("order", order, ORDERS)
        self.supports_masking = True
        gru = keras.layers.GRUCell(units, dtype=self.dtype_policy, name="gru")
        if attention == "none":
            self.cell = _SummaryCell(gru, dtype=self.dtype_policy, name="summary_cell")
        else:
            self.cell = layers.AttentionCell(
                gru,
                self._attention_layer(),
                order,
                dtype=self.dtype_policy,
                name="attention_cell",
            )
        self.rnn = keras.layers.RNN(
            self.cell, return_sequences=True, dtype=self.dtype_policy, name="rnn"
        )

    def _attention_layer(self):
        name, options = self.attention, {}
        if name in WITH_UNITS:
            options = {"units": self.units, **WITH_UNITS[name]}
        name = "location_aware" if name == "coverage" else name
        return layers.get(name, **options, dtype=self.dtype_policy, name="attention")

    def build(self, inputs_shape, memory_shape, summary_shape):
        def dense(name, size):
            layer = keras.layers.Dense(
                self.units, "tanh", dtype=self.dtype_policy, name=name
            )
            layer.build((None, size))
            return layer

        read_shape = summary_shape if self.attention == "none" else memory_shape
        self.start = dense("start", summary_shape[-1])
        self.cell.build_for(inputs_shape, read_shape)
        self.rnn.built = True
        self.output_dense = dense("output", self.units + read_shape[-1])

    def initial_state(self, memory: Tensor, summary: Tensor, memory_mask=None) -> list:
        """State before the first step; `step` continues from it."""
        first = self.start(summary)
        if self.attention == "none":
            return [first, summary]
        return self.cell.memory_state(memory, memory_mask, [first])

    def step(
        self, inputs: Tensor, state: list, return_attention_scores: bool = False
    ) -> tuple:
        """One step: inputs `(B, D_in)` to output `(B, U)` and the next state.

        With `return_attention_scores` the scores `(B, S)` are third.
        """
        flags = {"return_attention_scores": True} if return_attention_scores else {}
        output, *rest = self.cell(inputs, state, **flags)
        return (self.output_dense(output), *rest)

    def call(
        self,
        inputs,
        memory,
        summary,
        memory_mask=None,
        return_attention_scores=False,
        inputs_mask=None,
    ):
        if return_attention_scores:
            self.require_scores()
        inputs = zero_rows(inputs, inputs_mask, "inputs_mask")
        state = self.initial_state(memory, summary, memory_mask)
        steps = self.rnn(inputs, initial_state=state)
        outputs = carry_mask(self.output_dense(steps), inputs_mask)
        if not return_attention_scores:
            return outputs
        return outputs, self.cell.alignments(steps, state)

    def require_scores(self) -> None:
        """Refuse to return scores that there are none of."""
        require(
            self.attention != "none",
            "A decoder without attention has no scores to return.",
            attention=self.attention,
        )

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        batch, length, _ = given["inputs"].shape
        output = keras.KerasTensor(
            (batch, length, self.units), dtype=self.compute_dtype
        )
        output = carry_mask(output, given["inputs_mask"])
        if not given["return_attention_scores"]:
            return output
        shape = (batch, length, given["memory"].shape[1])
        return output, keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "attention": self.attention,
            "order": self.order,
        }


class _SummaryCell(keras.layers.Layer):
    """In `AttentionCell`'s place without attention: each step reads one summary.

    The states are those of the wrapped cell, then the summary `(B, D_s)`; the output
    is `[h_t, summary]`.
    """

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.cell = cell
        self.summary_size = 0

    @property
    def state_size(self):
        return [self.cell.state_size, self.summary_size]

    def build_for(self, inputs_shape, summary_shape):
        self.summary_size = summary_shape[-1]
        self.cell.build((None, inputs_shape[-1] + self.summary_size))
        self.built = True

    def call(self, inputs, states, training=False):
        hidden, summary = states
        inputs = ops.concatenate([inputs, summary], axis=-1)
        output, (hidden,) = self.cell(inputs, [hidden], training=training)
        return ops.concatenate([output, summary], axis=-1), [hidden, summary]
