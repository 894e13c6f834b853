"""Attention inside a recurrent decoder."""

import keras
from keras import ops

from keras_attention.errors import one_of, require
from keras_attention.layers._alignment import AlignmentAttention
from keras_attention.layers.base import BaseAttention, zero_rows
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.ops import masks

ORDERS = ("bahdanau", "luong")


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionCell(keras.layers.Layer):
    """Wraps an RNN cell so that each step looks at a memory; for `keras.layers.RNN`.

    With input `x`, cell state `h` and context `c`:

        bahdanau:  c_t = attend(h_{t-1}, memory);  h_t = cell([x_t, c_t], h_{t-1})
        luong:     h_t = cell([x_t, c_{t-1}], h_{t-1});  c_t = attend(h_t, memory)

    The output of a step is `[h_t, c_t]`. The memory is projected once and rides in the
    state, never on the layer: start with `cell.memory_state(memory, ...)`. Time
    `O(B S)` score evaluations per step. A whole loop, memory included, takes
    multiply-adds `T cell + attention`: those of the cell for a step of size `D_in + D`
    and those of the attention for T queries. An attention that remembers where it
    looked, such as `LocationAwareAttention`, has its last alignments in the state too.

    Shapes:
        B batch, T steps, S memory length, D size of the memory, U units of the cell.

    Args:
        cell: A Keras RNN cell, such as `keras.layers.GRUCell(64)`. Its first state is
            the query.
        attention: A two-input attention layer with one head, such as
            `AdditiveAttention(64)`: its projections and score are used.
        order: `"bahdanau"` or `"luong"`. Luong's input feeding passes on his
            attentional vector; here it is the context.
        **kwargs: Those of `keras.layers.Layer`, but no `activity_regularizer`: it
            belongs to the RNN layer.

    Call args:
        inputs: `(B, D_in)`, one step.
        states: Those of the cell, then context, the last alignments where the attention
            needs them, keys, values, memory mask.

    Returns:
        Output `(B, U + D)` and the new states.

    Raises:
        ValueError: for an unknown order, stacked cells, an `activity_regularizer`, or
            an attention with several heads, a mask of its own or dropout.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention import layers
        >>> cell = layers.AttentionCell(
        ...     keras.layers.GRUCell(4), layers.AdditiveAttention(5), order="luong"
        ... )
        >>> memory, x = np.ones((2, 7, 6), "float32"), np.ones((2, 3, 8), "float32")
        >>> cell.build_for(x.shape, memory.shape)
        >>> state = cell.memory_state(memory)
        >>> y = keras.layers.RNN(cell, return_sequences=True)(x, initial_state=state)
        >>> tuple(y.shape), tuple(cell.alignments(y, state).shape)
        ((2, 3, 10), (2, 3, 7))

    Source:
        Bahdanau et al. 2015, arXiv:1409.0473; Luong et al. 2015, arXiv:1508.04025.
    """

    def __init__(self, cell, attention, order: str = "bahdanau", **kwargs):
        super().__init__(**kwargs)
        require(
            self.activity_regularizer is None,
            "A cell runs inside a loop that keeps no losses: give "
            "`activity_regularizer` to the RNN layer.",
            activity_regularizer=self.activity_regularizer,
        )
        self.cell = cell
        self.attention = _single_head(attention)
        require(
            all(isinstance(size, int) for size in self._cell_sizes),
            "`cell` must be one RNN cell whose output is its first state.",
            cell=cell,
        )
        self.order = one_of("order", order, ORDERS)
        self.memory_size: int | None = None

    # ---------------------------------------------------------------------- the states

    @property
    def _cell_sizes(self) -> list[int]:
        size = self.cell.state_size
        return [size] if isinstance(size, int) else list(size)

    @property
    def _remembers(self) -> bool:
        """Whether a step's scores depend on those of the step before."""
        return isinstance(self.attention, AlignmentAttention)

    @property
    def units(self) -> int:
        """Size of the cell's first state, the query."""
        return self._cell_sizes[0]

    @property
    def state_size(self) -> list[int]:
        # Sizes of the last axes; all but the context also have a length.
        count = 5 if self._remembers else 4
        return [*self._cell_sizes, *[self.memory_size or 0] * count]

    @property
    def output_size(self) -> int:
        return self.units + (self.memory_size or 0)

    def build_for(self, inputs_shape, memory_shape) -> None:
        """Build for inputs `(B, T, D_in)` and a memory `(B, S, D)`."""
        batch, size = inputs_shape[0], memory_shape[-1]
        self.memory_size = size
        self._build_shapes = [tuple(inputs_shape), tuple(memory_shape)]
        if not self.cell.built:
            self.cell.build((batch, inputs_shape[-1] + size))
        if not self.attention.built:
            self.attention.build((batch, None, self.units), memory_shape)
        self.built = True

    def build(self, input_shape):
        if self.memory_size is None:
            raise ValueError(
                "AttentionCell must know its memory first. Call "
                "`build_for(inputs_shape, memory_shape)` before the RNN layer."
            )

    def get_build_config(self):
        return {"shapes": self._build_shapes} if self.built else None

    def build_from_config(self, config):
        self.build_for(*config["shapes"])

    def memory_state(self, memory, memory_mask=None, cell_state=None) -> list:
        """The initial state for `keras.layers.RNN`.

        Args:
            memory: `(B, S, D)`, such as the outputs of an encoder.
            memory_mask: `(B, S)`, True = a real position.
            cell_state: List of the cell's states; by default zeros.
        """
        batch, length = ops.shape(memory)[:2]
        if memory_mask is None:
            memory_mask = ops.ones((batch, length), dtype="bool")
        memory = zero_rows(memory, memory_mask, "memory_mask")
        if cell_state is None:
            cell_state = self.cell.get_initial_state(batch_size=batch)
        keys = self.attention.project_key(memory)
        alignments = []
        if self._remembers:
            first = self.attention.first_alignments(keys)
            alignments = [ops.cast(first, memory.dtype)]  # as those of a step will be
        return [
            *keras.tree.flatten(cell_state),
            ops.zeros((batch, memory.shape[-1]), dtype=memory.dtype),
            *alignments,
            keys,
            self.attention.project_value(memory),
            ops.cast(memory_mask, memory.dtype),
        ]

    # ------------------------------------------------------------------------ one step

    def call(self, inputs, states, training=False, return_attention_scores=False):
        count = len(self._cell_sizes)
        cell_state, (context, *seen) = states[:count], states[count:]
        if self.order == "bahdanau":
            context, seen, scores = self._look(
                cell_state[0], seen, return_attention_scores
            )
        stepped = self.cell(
            ops.concatenate([inputs, context], axis=-1), cell_state, training=training
        )
        output, cell_state = stepped[0], keras.tree.flatten(stepped[1])
        if self.order == "luong":
            context, seen, scores = self._look(
                cell_state[0], seen, return_attention_scores
            )
        output = ops.concatenate([output, context], axis=-1)
        states = [*cell_state, context, *seen]
        return (output, states, scores) if return_attention_scores else (output, states)

    def _look(self, query, seen, return_attention_scores):
        """One query `(B, U)`: its context, what the next one is to see, its scores."""
        wanted = self._remembers or return_attention_scores
        context, scores = self._attend(query[:, None], seen, wanted)
        scores = scores[:, 0] if wanted else None
        if self._remembers:
            before, *memory = seen
            after = self.attention.remember(before, ops.cast(scores, before.dtype))
            seen = [after, *memory]
        return context[:, 0], seen, scores

    def _attend(self, queries, seen, return_attention_scores=False):
        """Contexts `(B, T, D)` and scores of `(B, T, U)` queries, given the states."""
        *previous, keys, values, mask = seen
        output, scores = self.attention.attend_projected(
            self.attention.project_query(queries),
            keys,
            values,
            mask=masks.Padding(mask > 0),
            return_attention_scores=return_attention_scores,
            **({"previous": previous[0]} if previous else {}),
        )
        return output[:, :, 0, :], scores

    def alignments(self, outputs, initial_state):
        """Attention scores `(B, T, S)` of all steps, from the outputs of the RNN.

        The query of a step is in the outputs (Luong) or in those of the step before
        (Bahdanau), so all steps are scored at once (in their order, where a step
        needs the scores of the one before).

        Args:
            outputs: `(B, T, U + D)`, the sequence `keras.layers.RNN` returned.
            initial_state: What `memory_state` gave.
        """
        queries = outputs[..., : self.units]
        if self.order == "bahdanau":
            first = ops.cast(initial_state[0][:, None], queries.dtype)
            queries = ops.concatenate([first, queries[:, :-1]], axis=1)
        seen = initial_state[len(self._cell_sizes) + 1 :]
        return self._attend(queries, seen, return_attention_scores=True)[1]

    def get_config(self):
        return {
            **super().get_config(),
            "cell": keras.saving.serialize_keras_object(self.cell),
            "attention": keras.saving.serialize_keras_object(self.attention),
            "order": self.order,
        }

    @classmethod
    def from_config(cls, config):
        parts = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("cell", "attention")
        }
        return cls(**{**config, **parts})


def _single_head(attention):
    """`attention`, if its projections and score are all there is to it."""
    require(
        isinstance(attention, BaseAttention)
        and attention.mask is None
        and not attention.dropout
        and attention.output_regularizer is None
        and not isinstance(attention, MultiHeadAttention),
        "`attention` must be a two-input layer with one head, no mask, no dropout and "
        "no `activity_regularizer`, such as `AdditiveAttention(64)`.",
        attention=attention,
    )
    return attention
