"""Transformer encoder block."""

from typing import Any

import keras

from keras_attention.blocks.transformer_block import (
    TransformerBlock,
    cached,
    has_cache,
)
from keras_attention.errors import require
from keras_attention.layers import LinearAttention
from keras_attention.layers.base import call_arguments, carry_mask, zero_rows
from keras_attention.ops import _backend

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class TransformerEncoder(TransformerBlock):
    """Self-attention and a feed-forward network, each with a residual connection.

    One layer of an encoder, or with `use_causal_mask=True` of a language model, which
    `empty_cache` and `step` take position by position. Time `O(B T^2 D + B T D F)`,
    parameters `4 D^2 + 2 D F` and biases.

    Shapes:
        B batch, T length, D model size, N heads, F `intermediate_dim`, L cache length.

    Args:
        **kwargs: Those of `TransformerBlock` (`intermediate_dim`, `num_heads`, ...).

    Call args:
        inputs: `(B, T, D)`.
        mask: `(B, T)`, True = a real position; by default the hidden mask.
        attention_mask: `(T, T)`, `(B, T, T)` or `(B, N, T, T)`, True = may attend.
        return_attention_scores: Also return the scores before dropout.
        training: Whether to apply dropout.
        use_causal_mask: Every position sees itself and earlier ones only.
        attention_bias: Added to the logits, broadcastable to `(B, N, T, T)`.

    Returns:
        `(B, T, D)`, and with scores `(B, N, T, T)`.

    Raises:
        ValueError: for sizes that are not positive, or heads that do not divide D.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import blocks
        >>> block = blocks.TransformerEncoder(intermediate_dim=16, num_heads=2)
        >>> tuple(block(np.ones((2, 5, 8), "float32")).shape)
        (2, 5, 8)

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, section 3.1; pre-norm Xiong et al. 2020,
        arXiv:2002.04745.
    """

    def build(self, input_shape):
        size = input_shape[-1]
        self.self_attention = self.make_attention(size, "self_attention")
        self.self_attention.build(input_shape, input_shape)
        self.self_attention_norm = self.make_norm(input_shape, "self_attention_norm")
        self.make_feed_forward(input_shape)

    def call(
        self,
        inputs,
        mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
        attention_bias=None,
    ):
        if mask is None:  # Keras fills it only where no other tensor is given
            mask = _backend.get_mask(inputs)
        inputs = zero_rows(inputs, mask)
        norm = self.self_attention_norm
        x = self.before(norm, inputs)
        update, *scores = keras.tree.flatten(
            self.self_attention(
                x,
                x,
                query_mask=mask,
                value_mask=mask,
                attention_mask=attention_mask,
                return_attention_scores=return_attention_scores,
                training=training,
                use_causal_mask=use_causal_mask,
                attention_bias=attention_bias,
            )
        )
        x = self.after(norm, inputs, update, training)
        x = carry_mask(self.feed_forward_residual(x, training), mask)
        return (x, *scores) if return_attention_scores else x

    # ------------------------------------------------------------------- step by step

    @property
    def can_step(self) -> bool:
        """Whether the attention of this built block has `empty_cache` and `step`."""
        attention = self.self_attention
        return isinstance(attention, LinearAttention) or has_cache(attention)

    def empty_cache(self, batch_size: Any, length: Any) -> tuple:
        """What `step` takes first, with room for `length` positions.

        Keys and values, each `(B, K, L, H)`, or the state of linear attention, which
        has room for any number.

        Raises:
            ValueError: the attention of this block keeps neither.
        """
        require(self.built, "The block must be built: call it once before.")
        if isinstance(self.self_attention, LinearAttention):
            return self.self_attention.initial_state(batch_size)
        return cached(self.self_attention).empty_cache(batch_size, length)

    def step(
        self,
        inputs: Tensor,
        cache: tuple,
        cache_update_index: Any,
        mask: Tensor | None = None,
        attention_bias: Tensor | None = None,
    ) -> tuple[Tensor, tuple]:
        """The causal block at the next positions, without dropout.

        Not a call, for which Keras would round sums kept in float32 to the precision of
        the block.

        Args:
            inputs: `(B, T, D)`: one position, or a prompt at once.
            cache: From `empty_cache` or the step before.
            cache_update_index: Position of the first input.
            mask: `(B, T)`, True = a real position; by default the hidden mask. Others
                leave no trace in linear attention; keys and values of theirs must be
                written over before they are seen.
            attention_bias: Broadcastable to `(B, N, T, L)`.

        Returns:
            `(B, T, D)` and the next cache.
        """
        mask = _backend.get_mask(inputs) if mask is None else mask
        inputs = zero_rows(inputs, mask)
        norm, attention = self.self_attention_norm, self.self_attention
        x = self.before(norm, inputs)
        if isinstance(attention, LinearAttention):
            attention.refuse(None, False, True, attention_bias)
            update, cache = attention.step(x, x, cache, value_mask=mask)
        else:
            update, cache = cached(attention)(
                x,
                x,
                query_mask=mask,
                value_mask=mask,
                use_causal_mask=True,
                attention_bias=attention_bias,
                cache=cache,
                cache_update_index=cache_update_index,
            )
        x = self.after(norm, inputs, update, False)
        return self.feed_forward_residual(x, False), cache

    # --------------------------------------------------------------- shapes and config

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, input_shape):
        return input_shape

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        output = keras.KerasTensor(given["inputs"].shape, dtype=self.compute_dtype)
        output = carry_mask(output, given["mask"])
        if not given["return_attention_scores"]:
            return output
        batch, length, _ = given["inputs"].shape
        shape = (batch, self.num_heads, length, length)
        return output, keras.KerasTensor(shape, dtype=self.compute_dtype)
