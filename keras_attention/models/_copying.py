"""Copying: a distribution over the words of a source, mixed into one over all words."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attention import losses

Tensor = Any

# No word is copied with less: its logarithm is finite, and lost in any real sum.
_TINY = 1e-30


class CopyDetails(NamedTuple):
    """What a pointer-generator did at each step of a text it has read.

    Shapes: B batch, N heads, T steps, S source length.

    Attributes:
        attention_scores: `(B, N, T, S)`, heads apart.
        generation_probability: `(B, T)`, how far the word is made and not copied.
        copy_probability: `(B, T, S)`, of copying the token at each place of the source:
            sums to `1 - generation_probability`, and to 0 where there is no source.
        coverage: `(B, T, S)`, how much the steps before have copied from each place.
    """

    attention_scores: Tensor
    generation_probability: Tensor
    copy_probability: Tensor
    coverage: Tensor


def mixed_logits(
    logits: Tensor, scores: Tensor, gate: Tensor, source: Tensor
) -> Tensor:
    """Logits of `p P_vocabulary(w) + (1 - p) sum of the scores of places that hold w`.

    Only words of the source differ from `logits`: of a word with the logit `z` they
    have `z + softplus(log(copied (1 - p) / p) + logsumexp(logits) - z)`, the same
    mixture up to a constant for all words, which a softmax ignores. So no probability
    is ever divided or rounded to 0, and the distribution over the vocabulary is not
    held a second time.

    Args:
        logits: `(B, T, V)` of the vocabulary.
        scores: `(B, T, S)`, the share of each place of the source; a row sums to 1, or
            to 0 where there is nothing to copy: there the mixture is the vocabulary's.
        gate: `(B, T, 1)`, `log(p / (1 - p))`.
        source: `(B, S)` token ids, 0 = padding, which is never copied.

    Returns:
        `(B, T, V)` float32.
    """
    logits, scores, gate = (ops.cast(x, "float32") for x in (logits, scores, gate))
    source = ops.cast(source, "int32")
    batch, steps, size = ops.shape(logits)
    places = ops.shape(scores)[2]
    copied = ops.matmul(scores, _first_of_equals(source))  # (B, T, S)
    ids = ops.broadcast_to(source[:, None], (batch, steps, places))
    own = ops.take_along_axis(logits, ids, axis=-1)
    whole = ops.logsumexp(logits, axis=-1, keepdims=True)
    raised = ops.softplus(ops.log(ops.maximum(copied, _TINY)) - gate + whole - own)
    raised = ops.where(copied > 0, raised, 0.0)
    row = ops.reshape(ops.arange(batch * steps, dtype="int32"), (batch, steps, 1))
    # Keras's `scatter` goes through its indices one by one on PyTorch.
    added = ops.segment_sum(
        ops.reshape(raised, (-1,)),
        ops.reshape(row * size + ids, (-1,)),
        batch * steps * size,
    )
    return logits + ops.reshape(added, (batch, steps, size))


def _first_of_equals(source: Tensor) -> Tensor:
    """`(B, S, S)`: 1 where place `i` holds what `j` holds and is the first to do so."""
    same = ops.cast(source[:, :, None] == source[:, None, :], "float32")
    earlier = ops.sum(ops.triu(same, k=1), axis=1)  # equals before each place
    first = ops.logical_and(earlier == 0, source != 0)
    return same * ops.cast(first, "float32")[:, None]


@keras.saving.register_keras_serializable(package="keras_attention")
class CopyHead(keras.layers.Layer):
    """Decides at each step how far to copy, and mixes.

    `p = sigmoid(w_c . c_t + w_s . s_t + w_x . x_t + b)` of the context `c_t`, the sum
    of the memory weighted by the scores, the decoder's output `s_t` and its input `x_t`
    (See et al. 2017, arXiv:1704.04368, equations 8 and 9).

    Call args:
        logits: `(B, T, V)`.
        hidden: `(B, T, D)`, the decoder's output.
        inputs: `(B, T, D)`, what the decoder read.
        scores: `(B, T, S)`, as in `mixed_logits`.
        memory: `(B, S, M)`.
        source: `(B, S)` token ids.

    Returns:
        `(B, T, V)` float32.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.gate_dense = keras.layers.Dense(1, dtype=self.dtype_policy, name="gate")

    def build(
        self,
        logits_shape,
        hidden_shape,
        inputs_shape,
        scores_shape,
        memory_shape,
        source_shape,
    ):
        size = hidden_shape[-1] + inputs_shape[-1] + memory_shape[-1]
        self.gate_dense.build((None, None, size))

    def call(self, logits, hidden, inputs, scores, memory, source):
        gate = self.gate(hidden, inputs, scores, memory)
        return mixed_logits(logits, scores, gate, source)

    def gate(self, hidden, inputs, scores, memory) -> Tensor:
        """`log(p / (1 - p))`, `(B, T, 1)`."""
        context = ops.matmul(ops.cast(scores, memory.dtype), memory)
        return self.gate_dense(ops.concatenate([context, hidden, inputs], axis=-1))

    def multiply_adds(
        self,
        logits_shape,
        hidden_shape,
        inputs_shape,
        scores_shape,
        memory_shape,
        source_shape,
    ) -> int:
        """`B T S (M + S)`: the context, and what each place copies; then the gate."""
        (batch, steps, places), size = scores_shape, memory_shape[-1]
        gate = size + hidden_shape[-1] + inputs_shape[-1]
        return batch * steps * (places * (size + places) + gate)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_spec(self, logits, hidden, inputs, scores, memory, source):
        return keras.KerasTensor(logits.shape, dtype="float32")


class CoveragePenalty(keras.layers.Layer):
    """Hands on its first input, and in training adds `losses.coverage_penalty`."""

    def __init__(self, weight: float, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.weight = weight
        self.supports_masking = True

    def call(self, logits, scores, target, training=None):
        if training:
            penalty = losses.coverage_penalty(scores, ops.not_equal(target, 0))
            self.add_loss(self.weight * penalty)
        return logits

    def multiply_adds(self) -> int:
        """No matrix products."""
        return 0

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_spec(self, logits, scores, target, training=None):
        return keras.KerasTensor(logits.shape, dtype=logits.dtype)
