"""Learned bias of relative positions."""

import keras
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.layers._position_bias import PositionBias
from keras_attention.ops import positions


@keras.saving.register_keras_serializable(package="keras_attention")
class RelativePositionBias(PositionBias):
    """A learned number for each head and each bucket of distances `j - i`.

    Give it to any attention layer as `attention_bias`; T5 shares one among all layers
    of a stack. Near distances have a bucket each, far ones share buckets that grow
    geometrically, so any length works. Time and memory `O(N T S)` for all of a batch
    together, `num_buckets * N` parameters.

    For other distances with the weights of a trained layer, keep the table and scale
    `max_distance`, or make more buckets of it, direction by direction:
    `longer.set_weights([ops.positions.resized(table, (2, 32), grid=(2, 16))])` turns
    32 buckets into 64.

    Shapes:
        T query length, S key length, N heads.

    Args:
        num_heads: Number of heads, N.
        num_buckets: Number of buckets, an even one if `bidirectional`.
        max_distance: Distance from which on all share a bucket.
        bidirectional: Tell keys after the query from those before it, as an encoder
            does; a decoder needs no buckets for the future.
        initializer: Initializer of the table.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        query: A tensor `(B, T, ...)`, or `query=T`.
        key: A tensor `(B, S, ...)` or `S`; by default the query.
        query_offset: Position of query 0 among the keys, such as the
            `cache_update_index` in decoding; by default `S - T`.

    Returns:
        `(1, N, T, S)`.

    Raises:
        ValueError: for buckets that a direction cannot have two of, or a `max_distance`
            within the buckets of one distance.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> x = np.ones((1, 3, 4), "float32")
        >>> bias = layers.RelativePositionBias(num_heads=2)(x)
        >>> tuple(bias.shape), bool(bias[0, 0, 0, 1] == bias[0, 0, 1, 2])
        ((1, 2, 3, 3), True)

    Source:
        Raffel et al. 2020, arXiv:1910.10683, section 2.1.
    """

    def __init__(
        self,
        num_heads: int,
        num_buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
        initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(num_heads, **kwargs)
        self.num_buckets = positive_integer("num_buckets", num_buckets)
        self.max_distance = positive_integer("max_distance", max_distance)
        self.bidirectional = bidirectional
        self.initializer = keras.initializers.get(initializer)
        directions = 2 if bidirectional else 1
        require(
            num_buckets % directions == 0 and num_buckets >= 2 * directions,
            "`num_buckets` must be at least two for each direction, and even if "
            "`bidirectional`.",
            num_buckets=num_buckets,
            bidirectional=bidirectional,
        )
        require(
            max_distance > num_buckets // directions // 2,
            "`max_distance` must be greater than half of a direction's buckets, which "
            "hold one distance each.",
            max_distance=max_distance,
            num_buckets=num_buckets,
        )

    def build(self, query_shape=None, key_shape=None):
        self.embeddings = self.add_weight(
            shape=(self.num_buckets, self.num_heads),
            initializer=self.initializer,
            name="embeddings",
        )

    def bias(self, query_length, key_length, query_offset=None):
        buckets = positions.relative_buckets(
            positions.relative_positions(query_length, key_length, query_offset),
            self.num_buckets,
            self.max_distance,
            self.bidirectional,
        )
        table = ops.transpose(ops.convert_to_tensor(self.embeddings))
        return ops.take(table, buckets, axis=1)[None]

    def get_config(self):
        return {
            **super().get_config(),
            "num_buckets": self.num_buckets,
            "max_distance": self.max_distance,
            "bidirectional": self.bidirectional,
            "initializer": keras.initializers.serialize(self.initializer),
        }
