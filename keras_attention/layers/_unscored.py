"""What multi-head layers share that never compare a query with a single key."""

from typing import Any

import keras

from keras_attention.errors import fraction, require
from keras_attention.layers._projections import HeadProjections
from keras_attention.layers.base import (
    call_arguments,
    carry_mask,
    key_and_its_mask,
    zero_hidden,
)

Tensor = Any

_REFUSED_OPTIONS = {
    "mask": "it holds no pairs of query and key to choose from",
    "flash_attention": "it has one path, which never holds `T x S` scores",
}


class UnscoredAttention(HeadProjections, keras.layers.Layer):
    """Base of the multi-head layers whose cost is linear in the length.

    The attention contract without what stands for single pairs of query and key: such
    arguments are refused, never ignored. A variant overrides `attend_heads`.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key, H.
        value_dim: Size of each head for value; by default `key_dim`.
        dropout: Share dropped in training, in [0, 1); of what, the variant says.
        use_bias: Whether the projections have a bias.
        output_shape: Size (or shape) of the output; by default the query's size.
        seed: Seed of all that is random.
        **kwargs: Those of `HeadProjections` and `keras.layers.Layer`.

    Attributes:
        can_be_causal: Whether `use_causal_mask` is taken; a variant that cannot hide
            the future says so.
    """

    can_be_causal = True

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: Any = None,
        *,
        seed: int | None = None,
        **kwargs: Any,
    ):
        for option, reason in _REFUSED_OPTIONS.items():
            value = kwargs.pop(option, None)
            require(
                value is None,
                f"{type(self).__name__} takes no `{option}`: {reason}.",
                **{option: value},
            )
        super().__init__(
            num_heads=num_heads,
            key_dim=key_dim,
            value_dim=value_dim,
            use_bias=use_bias,
            output_shape=output_shape,
            **kwargs,
        )
        self.supports_masking = True
        self.dropout = fraction("dropout", dropout)
        self.seed = seed
        if dropout:
            self.seed_generator = keras.random.SeedGenerator(seed)

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        heads = (self.num_heads, self.key_dim)
        self.query_dense = self._heads_dense("query", query_shape, heads)
        self.key_dense = self._heads_dense("key", key_shape, heads)
        self.value_dense = self._heads_dense(
            "value", value_shape, (self.num_heads, self.value_dim)
        )
        self.output_dense = self._output_dense(query_shape)

    # ----------------------------------------------------------------------- the call

    def attend_heads(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        query_mask: Tensor | None = None,
        value_mask: Tensor | None = None,
        use_causal_mask: bool = False,
        training: bool | None = None,
    ) -> Tensor:
        """`(B, T, N, H)`, `(B, S, N, H)`, `(B, S, N, V)` to `(B, T, N, V)`.

        Linear in `value`; rows with nothing to attend are 0.
        """
        raise NotImplementedError

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
        attention_bias=None,
    ):
        self.refuse(
            attention_mask, return_attention_scores, use_causal_mask, attention_bias
        )
        key, value_mask = key_and_its_mask(key, value, key_mask, value_mask)
        query, key, value = zero_hidden(query, key, value, query_mask, value_mask)
        output = self.attend_heads(
            self.query_dense(query),
            self.key_dense(key),
            self.value_dense(value),
            query_mask=query_mask,
            value_mask=value_mask,
            use_causal_mask=use_causal_mask,
            training=training,
        )
        return carry_mask(self.output_dense(output), query_mask)

    def refuse(
        self, attention_mask, return_attention_scores, use_causal_mask, attention_bias
    ):
        """Raise for arguments of a call that this layer cannot honour."""
        name = type(self).__name__
        require(
            not return_attention_scores,
            f"{name} has no attention scores: it never compares a query with a single "
            "key. Call it without `return_attention_scores`.",
        )
        require(
            attention_mask is None,
            f"{name} takes no `attention_mask` (nor an `attention_bias`): it has no "
            "logits of query and key. Hide padding by `query_mask` and `value_mask`.",
        )
        require(
            attention_bias is None,
            f"{name} takes no `attention_bias`: it has no logits of query and key.",
        )

    # ------------------------------------------------------------- shapes and configs

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return (*query_shape[:-1], *(self._output_shape or query_shape[-1:]))

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        self.refuse(
            given["attention_mask"],
            given["return_attention_scores"],
            given["use_causal_mask"],
            given["attention_bias"],
        )
        shape = self.compute_output_shape(given["query"].shape, given["value"].shape)
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        return carry_mask(output, given["query_mask"])

    def get_config(self):
        return {**super().get_config(), "dropout": self.dropout, "seed": self.seed}
