"""Conformer encoder block."""

from typing import Any

import keras

from keras_attention.blocks.convolution_module import ConvolutionModule
from keras_attention.blocks.feed_forward import FeedForward
from keras_attention.blocks.transformer_block import TransformerBlock
from keras_attention.errors import require
from keras_attention.layers.base import call_arguments, carry_mask, zero_rows
from keras_attention.ops import _backend

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class ConformerEncoder(TransformerBlock):
    """Self-attention and a convolution between two halves of a feed-forward network.

        x = x + FeedForward(x) / 2;  x = x + Attention(x);  x = x + Convolution(x)
        y = norm(x + FeedForward'(x) / 2)

    each of its own normalised input. For speech: attention finds what is far, the
    convolution what is near. Padding leaks through neither. Time
    `O(B T^2 D + B T D (F + D + k))`, parameters `7 D^2 + 4 D F` and those of size D.

    Shapes:
        B batch, T length, D model size, N heads, F `intermediate_dim`, k `kernel_size`.

    Args:
        intermediate_dim: Size of the feed-forward networks' hidden layer, `4 D` in the
            paper.
        num_heads: Number of attention heads; must divide the model size.
        kernel_size: Width of the convolution in positions, odd.
        convolution_norm: `"batch"` or `"layer"`, see `ConvolutionModule`.
        activation: Of feed-forward networks and convolution, Swish in the paper.
        attention: Name of a multi-head layer of the registry; one that does not know
            distances leaves order to the convolution.
        **kwargs: Further ones of `TransformerBlock`, but no `normalize_first=False`.

    Call args:
        inputs: `(B, T, D)`.
        mask: `(B, T)`, True = a real position; by default the hidden mask.
        attention_mask: `(T, T)`, `(B, T, T)` or `(B, N, T, T)`, True = may attend.
        return_attention_scores: Also return the scores before dropout.
        training: Whether to apply dropout, and batch statistics.
        attention_bias: Added to the logits, broadcastable to `(B, N, T, T)`.

    Returns:
        `(B, T, D)`, and with scores `(B, N, T, T)`.

    Raises:
        ValueError: for sizes that are not positive, an even `kernel_size`, heads that
            do not divide D, or post-norm.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import blocks
        >>> block = blocks.ConformerEncoder(16, num_heads=2, kernel_size=3)
        >>> tuple(block(np.ones((2, 5, 8), "float32")).shape)
        (2, 5, 8)

    Source:
        Gulati et al. 2020, "Conformer", arXiv:2005.08100, section 2 and equation 1.
        Relative positions are Shaw's by default, Transformer-XL's in the paper.
    """

    def __init__(
        self,
        intermediate_dim: int,
        num_heads: int,
        kernel_size: int = 31,
        convolution_norm: str = "batch",
        activation: Any = "silu",
        attention: str = "relative_position",
        **kwargs: Any,
    ):
        super().__init__(
            intermediate_dim,
            num_heads,
            activation=activation,
            attention=attention,
            **kwargs,
        )
        require(
            self.normalize_first,
            "A Conformer block is pre-norm, with one norm more at its end.",
            normalize_first=self.normalize_first,
        )
        self.convolution = ConvolutionModule(
            kernel_size,
            convolution_norm,
            activation,
            dtype=self.dtype_policy,
            name="convolution",
        )

    def build(self, input_shape):
        size = input_shape[-1]
        self.first_feed_forward = FeedForward(
            self.intermediate_dim,
            self.activation,
            self.dropout,
            dtype=self.dtype_policy,
            name="first_feed_forward",
        )
        self.first_feed_forward.build(input_shape)
        self.first_norm = self.make_norm(input_shape, "first_feed_forward_norm")
        self.self_attention = self.make_attention(size, "self_attention")
        self.self_attention.build(input_shape, input_shape)
        self.self_attention_norm = self.make_norm(input_shape, "self_attention_norm")
        self.convolution.build(input_shape)
        self.convolution_norm_layer = self.make_norm(input_shape, "convolution_norm")
        self.make_feed_forward(input_shape)
        self.last_norm = self.make_norm(input_shape, "norm")

    def call(
        self,
        inputs,
        mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        attention_bias=None,
    ):
        mask = _backend.get_mask(inputs) if mask is None else mask
        x = zero_rows(inputs, mask)
        x = self._half(self.first_norm, self.first_feed_forward, x, training)
        y = self.self_attention_norm(x)
        update, *scores = keras.tree.flatten(
            self.self_attention(
                y,
                y,
                query_mask=mask,
                value_mask=mask,
                attention_mask=attention_mask,
                return_attention_scores=return_attention_scores,
                training=training,
                attention_bias=attention_bias,
            )
        )
        x = self.after(self.self_attention_norm, x, update, training)
        norm = self.convolution_norm_layer
        update = self.convolution(norm(x), mask=mask, training=training)
        x = self.after(norm, x, update, training)
        x = self._half(self.feed_forward_norm, self.feed_forward, x, training)
        x = carry_mask(self.last_norm(x), mask)
        return (x, *scores) if return_attention_scores else x

    def _half(self, norm, feed_forward, inputs: Tensor, training) -> Tensor:
        """Inputs plus half of what a feed-forward network makes of them."""
        update = 0.5 * feed_forward(norm(inputs), training=training)
        return self.after(norm, inputs, update, training)

    # --------------------------------------------------------------- shapes and config

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, input_shape):
        return input_shape

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        batch, length, _ = shape = given["inputs"].shape
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        output = carry_mask(output, given["mask"])
        if not given["return_attention_scores"]:
            return output
        shape = (batch, self.num_heads, length, length)
        return output, keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "kernel_size": self.convolution.kernel_size,
            "convolution_norm": self.convolution.norm,
        }
