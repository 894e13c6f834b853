"""Softmax attention over a sequence that is first projected to a fixed length."""

import math
from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.layers._unscored import UnscoredAttention
from keras_attention.layers.base import zero_rows
from keras_attention.ops import attend, masks
from keras_attention.ops.cost import attend_multiply_adds
from keras_attention.ops.softmax import at_least_float32

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class LinformerAttention(UnscoredAttention):
    """Multi-head attention from each query to K learned mixtures of all positions.

    `softmax(Q (E^T K)^T / sqrt(H)) (F^T V)` with learned `E` and `F` `(S_max, K)`. For
    encoders of long sequences with a fixed limit. Position `j` means row `j` of `E`: it
    cannot be moved along a sequence as other attention can. Time
    `O(B N (T + S) K (H + V))` plus the projections, memory `O(B N T K)`; multiply-adds
    `B N (T + S) (K + D) (H + V)`; parameters as `MultiHeadAttention` plus `2 S_max K`,
    or `S_max K` if shared.

    Shapes:
        B batch, T query length, S key length, D model size, N heads, H `key_dim`,
        V `value_dim`, K `projected_length`.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key, H.
        max_sequence_length: Most keys of a call. Shorter sequences use the first rows
            of the projection, so the padded and the short sequence agree.
        projected_length: K; the error does not depend on the length (theorem 2).
        share_projection: Project keys and values by one matrix.
        value_dim: Size of each head for value; by default `key_dim`.
        dropout: Share of the scores over the K mixtures dropped in training, in [0, 1).
        use_bias: Whether the projections to heads and back have a bias.
        output_shape: Size (or shape) of the output; by default the query's size.
        seed: Seed of the dropout.
        **kwargs: `kernel_initializer`, `bias_initializer`, `kernel_regularizer`,
            `bias_regularizer`, `activity_regularizer`, `kernel_constraint`,
            `bias_constraint`, as in `keras.layers.Dense`, and those of
            `keras.layers.Layer`. The kernel's hold for `E` and `F` too.

    Call args:
        query: `(B, T, D)`.
        value: `(B, S, D)`.
        key: `(B, S, D)`; by default the value.
        query_mask, value_mask, key_mask: `(B, T)` or `(B, S)`, True = a real position;
            applied before the sequence is projected, where padding would mix into every
            key. By default the hidden mask of the tensor.
        training: Whether to apply dropout.
        use_causal_mask: Refused: each of the K keys is made of all positions, the
            future among them, so hiding some of the K would hide no future.
        attention_mask, attention_bias, return_attention_scores: Refused.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: for sizes that are not positive, more keys than
            `max_sequence_length`, a `mask` of positions, a float mask, and what is
            refused in a call.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.LinformerAttention(
        ...     num_heads=2, key_dim=3, max_sequence_length=8, projected_length=3
        ... )
        >>> x = np.ones((1, 8, 4), "float32")
        >>> real = np.arange(8)[None] < 5
        >>> y = layer(x, x, value_mask=real)
        >>> errors = keras.ops.abs(layer(x, x[:, :5]) - y)
        >>> tuple(y.shape), bool(keras.ops.all(errors < 1e-5))
        ((1, 8, 4), True)

    Source:
        Wang et al. 2020, arXiv:2006.04768, equation 7. `E` and `F` are shared by the
        heads.
    """

    can_be_causal = False

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        max_sequence_length: int,
        projected_length: int,
        share_projection: bool = False,
        **kwargs: Any,
    ):
        super().__init__(num_heads, key_dim, **kwargs)
        self.max_sequence_length = positive_integer(
            "max_sequence_length", max_sequence_length
        )
        self.projected_length = positive_integer("projected_length", projected_length)
        self.share_projection = share_projection

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.key_projection = self._length_kernel("key_projection")
        self.value_projection = (
            self.key_projection
            if self.share_projection
            else self._length_kernel("value_projection")
        )

    def _length_kernel(self, name):
        options = self._new_options()
        return self.add_weight(
            shape=(self.max_sequence_length, self.projected_length),
            initializer=options["kernel_initializer"],
            regularizer=options["kernel_regularizer"],
            constraint=options["kernel_constraint"],
            name=name,
        )

    def refuse(
        self, attention_mask, return_attention_scores, use_causal_mask, attention_bias
    ):
        super().refuse(
            attention_mask, return_attention_scores, use_causal_mask, attention_bias
        )
        require(
            not use_causal_mask,
            "LinformerAttention cannot be causal: each projected key is made of all "
            "positions, so every query would see the future. Take `LinearAttention`.",
            use_causal_mask=use_causal_mask,
        )

    def attend_heads(
        self,
        query,
        key,
        value,
        query_mask=None,
        value_mask=None,
        use_causal_mask=False,
        training=None,
    ):
        del use_causal_mask
        length = value.shape[1]
        require(
            length is None or length <= self.max_sequence_length,
            "There must be at most `max_sequence_length` keys.",
            length=length,
            max_sequence_length=self.max_sequence_length,
        )
        dropout = self.dropout if training else 0.0
        return attend(
            query,
            _projected(key, value_mask, self.key_projection),
            _projected(value, value_mask, self.value_projection),
            mask=None if query_mask is None else masks.Padding(query_mask=query_mask),
            dropout=dropout,
            seed=self.seed_generator.next() if dropout else None,
        )

    def multiply_adds(self, query_shape, key_shape, value_shape) -> int | None:
        """What `attend_heads` multiplies: `B N (S + T) K (H + V)`."""
        batch, _, *heads = key_shape
        projected = (batch, self.projected_length, *heads)
        projections = math.prod(key_shape) + math.prod(value_shape)
        attention = attend_multiply_adds(
            query_shape, projected, (*projected[:3], value_shape[-1])
        )
        return projections * self.projected_length + (attention or 0)

    def get_config(self):
        return {
            **super().get_config(),
            "max_sequence_length": self.max_sequence_length,
            "projected_length": self.projected_length,
            "share_projection": self.share_projection,
        }


def _projected(x: Tensor, mask: Tensor | None, kernel: Tensor) -> Tensor:
    """`(B, S, N, H)` to `(B, K, N, H)`, summed over the real positions.

    Hidden rows are 0 only here: the projection to heads has added its bias to them.
    """
    if mask is not None:
        mask = masks.as_boolean("value_mask", mask)[:, :, None]
    rows = at_least_float32(zero_rows(x, mask))
    kernel = ops.cast(kernel, rows.dtype)[: ops.shape(x)[1]]
    return ops.cast(ops.einsum("bsnh,sk->bknh", rows, kernel), x.dtype)
