"""Location-aware attention of speech recognizers."""

import keras
from keras import ops

from keras_attention.errors import odd_integer, positive_integer
from keras_attention.layers._alignment import AlignmentAttention
from keras_attention.ops import alignments
from keras_attention.ops.problem import promote
from keras_attention.ops.scores import additive
from keras_attention.ops.softmax import at_least_float32, masked_softmax


@keras.saving.register_keras_serializable(package="keras_attention")
class LocationAwareAttention(AlignmentAttention):
    """Additive attention that also sees where the step before looked.

    `score(q_i, k_j) = w . tanh(W q_i + V k_j + U f_ij + b)` with the features
    `f_i = F * a_{i-1}`, a convolution over the previous scores, 0 at the start. For
    long memories with near copies in them, such as speech: content alone cannot tell
    the copies apart. Made for `AttentionCell`, where the query is a decoder's state;
    called alone it goes through the queries in their order. Time
    `O(B T S units (filters + 1) + B T S filters kernel_size)` in `T` steps one after
    the other, memory `O(B T S)` and, for the gradient, `O(B T S units)`; multiply-adds
    `B (T Dq + S Dk) units + B T S (units + V + filters (kernel_size + units))`,
    parameters `(Dq + Dk + filters + 2) * units + kernel_size * filters`.

    Shapes:
        B batch, T query length, S key length, Dq, Dk sizes of query and key, V of
        value.

    Args:
        units: Size of the hidden layer that compares query and key.
        filters: Number of filters over the previous scores; 10 in the paper, 32 by
            default as in Tacotron 2.
        kernel_size: Width of a filter in positions, odd; 201 in the paper, 31 by
            default as in Tacotron 2.
        cumulative: Look at the sum of all scores so far instead of the last ones, as
            Tacotron 2 does. With one filter of width 1 that is the coverage of See et
            al. 2017, arXiv:1704.04368, equations 10 and 11, up to a factor.
        **kwargs: `dropout`, `mask`, `flash_attention` (not `True`), `seed` of
            `BaseAttention`, and those of `keras.layers.Layer`.

    Call args:
        query: `(B, T, Dq)`, in the order of the steps.
        value: `(B, S, V)`.
        key: `(B, S, Dk)`; by default the value.
        Others as in `DotProductAttention`. A query with nothing to attend is passed
        over: the next one continues from the scores before it.

    Returns:
        `(B, T, V)`, and with scores `(B, T, S)`.

    Raises:
        ValueError: for sizes below 1, an even `kernel_size`, `flash_attention=True`, or
            a float `attention_mask`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.LocationAwareAttention(units=7, filters=2, kernel_size=3)
        >>> y, scores = layer(
        ...     np.ones((2, 3, 4)), np.ones((2, 5, 6)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 3, 6), (2, 3, 5))

    Source:
        Chorowski et al. 2015, arXiv:1506.07503, section 2.2, equations 8 and 9, with
        a plain softmax; the zeros at the start are Tacotron 2's.
    """

    def __init__(
        self,
        units: int,
        filters: int = 32,
        kernel_size: int = 31,
        cumulative: bool = False,
        **kwargs,
    ):
        super().__init__(units, **kwargs)
        self.filters = positive_integer("filters", filters)
        self.kernel_size = odd_integer("kernel_size", kernel_size)
        self.cumulative = cumulative

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.location_kernel = self.add_weight(
            shape=(self.kernel_size, self.filters),
            initializer="glorot_uniform",
            name="location_kernel",
        )
        self.location_dense = self.hidden_dense("location", self.filters)

    def energies(self, query, key, previous):
        kernel = at_least_float32(ops.convert_to_tensor(self.location_kernel))
        features = alignments.location_features(previous, kernel)
        located = key + self.location_dense(ops.cast(features, key.dtype))
        scale = ops.convert_to_tensor(self.scale)
        return additive(*(promote(x) for x in (query[:, None], located, scale)))[:, 0]

    def normalise(self, logits, previous, allowed):
        return masked_softmax(logits, allowed)

    def remember(self, previous, scores):
        return previous + scores if self.cumulative else scores

    def first_alignments(self, key):
        return ops.zeros_like(at_least_float32(key[:, :, 0, 0]))

    def multiply_adds(self, query_shape, key_shape, value_shape) -> int:
        """`B T S F (width + H)` more, for the filters and their projection."""
        steps = query_shape[0] * query_shape[1] * key_shape[1]
        location = steps * self.filters * (self.kernel_size + self.units)
        return location + super().multiply_adds(query_shape, key_shape, value_shape)

    def get_config(self):
        return {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "cumulative": self.cumulative,
        }
