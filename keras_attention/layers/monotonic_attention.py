"""Soft monotonic attention: the decoder only moves forward."""

import keras
from keras import ops

from keras_attention.layers._alignment import AlignmentAttention
from keras_attention.ops import alignments
from keras_attention.ops.problem import promote
from keras_attention.ops.scores import additive
from keras_attention.ops.softmax import at_least_float32


@keras.saving.register_keras_serializable(package="keras_attention")
class MonotonicAttention(AlignmentAttention):
    """Expected alignments of a decoder that reads its memory from left to right.

    From where the step before stopped, position `j` is taken with probability
    `p_ij = sigmoid(g v/|v| . tanh(W q_i + V k_j + b) + r)`, else the next one is asked:

        a_ij = p_ij q_ij   with   q_ij = (1 - p_i,j-1) q_i,j-1 + a_i-1,j

    starting at position 0. For speech and other tasks where output follows input in
    order. This is the expectation over all such walks, in training and afterwards
    alike; the hard walk, which stops at the first `p` above 1/2, is not here, nor the
    noise on the logits that prepares for it. A walk may leave the memory at its end, so
    **a row of scores sums to at most 1**. Made for `AttentionCell`; called alone it
    goes through the queries in their order. Time `O(B T S (units + log S))` in `T`
    steps one after the other, memory `O(B T S)` and, for the gradient,
    `O(B T S (units + log S))`; multiply-adds
    `B (T Dq + S Dk) units + B T S (units + V)`, parameters
    `(Dq + Dk + 2) * units + 2`.

    Shapes:
        B batch, T query length, S key length, Dq, Dk sizes of query and key, V of
        value.

    Args:
        units: Size of the hidden layer that compares query and key.
        offset: Where `r` starts. Negative, so that a new layer does not take the first
            positions every time; the longer the memory, the lower.
        **kwargs: `dropout`, `mask`, `flash_attention` (not `True`), `seed` of
            `BaseAttention`, and those of `keras.layers.Layer`.

    Call args:
        query: `(B, T, Dq)`, in the order of the steps.
        value: `(B, S, V)`.
        key: `(B, S, Dk)`; by default the value.
        Others as in `DotProductAttention`. A hidden key is walked past; a query with
        nothing to attend is passed over.

    Returns:
        `(B, T, V)`, and with scores `(B, T, S)`.

    Raises:
        ValueError: for `units` below 1, `flash_attention=True`, or a float
            `attention_mask`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y, scores = layers.MonotonicAttention(units=7)(
        ...     np.ones((2, 3, 4)), np.ones((2, 5, 6)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 3, 6), (2, 3, 5))

    Source:
        Raffel et al. 2017, arXiv:1704.00784, section 2.3, equations 9 to 11, and
        section 2.4 for the logits.
    """

    def __init__(self, units: int, offset: float = -1.0, **kwargs):
        super().__init__(units, **kwargs)
        self.offset = float(offset)

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.gain = self._scalar("gain", self.units**-0.5)
        self.logit_offset = self._scalar("offset", self.offset)

    def _scalar(self, name, start):
        initializer = keras.initializers.Constant(start)
        return self.add_weight(shape=(), initializer=initializer, name=name)

    def energies(self, query, key, previous):
        del previous
        scale, gain, offset = (
            at_least_float32(ops.convert_to_tensor(x))
            for x in (self.scale, self.gain, self.logit_offset)
        )
        scale = gain * ops.normalize(scale, axis=-1)
        pair = (promote(x) for x in (query[:, None], key))
        return at_least_float32(additive(*pair, scale))[:, 0] + offset

    def normalise(self, logits, previous, allowed):
        return alignments.monotonic(logits, previous, allowed)

    def first_alignments(self, key):
        zeros = ops.zeros_like(at_least_float32(key[:, :, 0, 0]))
        first = ops.arange(ops.shape(zeros)[1]) == 0
        return zeros + ops.cast(first, zeros.dtype)

    def get_config(self):
        return {**super().get_config(), "offset": self.offset}
