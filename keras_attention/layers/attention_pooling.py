"""Pooling a sequence to one vector, or to a few, by learned queries."""

from math import prod

import keras
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.layers._pooling import BasePooling, weigh
from keras_attention.layers.multi_head_attention import MultiHeadAttention


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionPooling(BasePooling):
    """Weighted means over time, the weights from learned queries.

    `sum_t a_t x_t` with `a = softmax(x . q)`: what a classifier needs after an encoder,
    and a picture of what it looked at. `num_queries` asks several questions and gives
    as many vectors. Time and memory `O(B S k D)`; multiply-adds `2 B k S D`, `k D`
    parameters.

    With one head nothing is projected and no scale divides the logits: the output is a
    mean of the inputs. With several heads the pooling is `MultiHeadAttention(q, x, x)`
    with its scale and its query, key, value and output projections, biases included:
    multiply-adds `2 B N H (k S + D (k + S))`, and `4 D N H + 3 N H + D` more
    parameters.

    Shapes:
        B batch, S length, D size, k `num_queries`, N `num_heads`, H `key_dim`.

    Args:
        num_queries: Number of learned queries and of output vectors, k.
        num_heads: Number of heads, N. More than one adds the projections.
        key_dim: Size of each head, H; by default `D / N`, which must divide. Only with
            several heads.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, S, D)`.
        mask: `(B, S)`, True = a real position; by default the hidden mask.
        return_attention_scores: Also return the scores.

    Returns:
        `(B, D)` for one query and `(B, k, D)` for several. With scores `(B, S)` or
        `(B, k, S)` from one head, `(B, N, S)` or `(B, N, k, S)` from several. A row
        without a real position gives 0 (before the output projection).

    Raises:
        ValueError: for sizes below 1, heads that do not divide D, a `key_dim` for one
            head, or a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y, scores = layers.AttentionPooling()(
        ...     np.ones((2, 3, 4)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 4), (2, 3))
        >>> y, scores = layers.AttentionPooling(num_queries=5, num_heads=2)(
        ...     np.ones((2, 3, 4)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 5, 4), (2, 2, 5, 3))

    Source:
        One head: Yang et al. 2016, "Hierarchical attention networks", equation 6,
        without the hidden layer. Several: Lee et al. 2019, "Set Transformer",
        arXiv:1810.00825, equation 11 (PMA), without its feed-forward networks, residual
        connection and norms.
    """

    def __init__(
        self,
        num_queries: int = 1,
        num_heads: int = 1,
        key_dim: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_queries = positive_integer("num_queries", num_queries)
        self.num_heads = positive_integer("num_heads", num_heads)
        require(
            key_dim is None or num_heads > 1,
            "`key_dim` needs several heads: one head projects nothing.",
            key_dim=key_dim,
            num_heads=num_heads,
        )
        self.key_dim = None if key_dim is None else positive_integer("key_dim", key_dim)

    def build(self, input_shape):
        size = input_shape[-1]
        one = self.num_queries == 1
        self.query = self.add_weight(
            shape=(size,) if one else (self.num_queries, size),
            initializer="glorot_uniform",
            name="query",
        )
        if self.num_heads == 1:
            return
        require(
            self.key_dim is not None or size % self.num_heads == 0,
            "`num_heads` must divide the size of the inputs, or give `key_dim`.",
            num_heads=self.num_heads,
            size=size,
        )
        self.attention = MultiHeadAttention(
            self.num_heads,
            self.key_dim or size // self.num_heads,
            name="attention",
            dtype=self.dtype_policy,
        )
        query_shape = (input_shape[0], self.num_queries, size)
        self.attention.build(query_shape, input_shape)

    def pool(self, inputs, mask):
        size = inputs.shape[-1]
        query = ops.reshape(self.query, (self.num_queries, size))
        if self.num_heads == 1:
            output, scores = weigh(query, inputs, inputs, mask)
        else:
            shape = (ops.shape(inputs)[0], self.num_queries, size)
            output, scores = self.attention(
                ops.broadcast_to(query[None], shape),
                inputs,
                value_mask=mask,
                return_attention_scores=True,
            )
        if self.num_queries == 1:
            return output[:, 0], scores[..., 0, :]
        return output, scores

    def multiply_adds(self, inputs_shape) -> int:
        """`2 B k S D` from one head; several leave it to the attention inside."""
        return 0 if self.num_heads > 1 else 2 * self.num_queries * prod(inputs_shape)

    def held_numbers(self, inputs_shape) -> int:
        """The scores of one head."""
        return 0 if self.num_heads > 1 else super().held_numbers(inputs_shape)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *self._queries, input_shape[-1])

    def compute_scores_shape(self, input_shape):
        heads = () if self.num_heads == 1 else (self.num_heads,)
        return (input_shape[0], *heads, *self._queries, input_shape[1])

    @property
    def _queries(self) -> tuple[int, ...]:
        """The axis of the queries, which a single one does without."""
        return () if self.num_queries == 1 else (self.num_queries,)

    def get_config(self):
        return {
            **super().get_config(),
            "num_queries": self.num_queries,
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
        }
