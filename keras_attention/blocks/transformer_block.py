"""What the encoder and the decoder block share: residual sub-blocks."""

from collections.abc import Callable
from typing import Any

import keras

from keras_attention import layers
from keras_attention.blocks.feed_forward import FeedForward
from keras_attention.errors import fraction, positive_integer, require
from keras_attention.layers._key_value_cache import KeyValueCache
from keras_attention.layers.base import ScoresOnRequest

Tensor = Any

_POSITIONAL = ("mask", "sliding_window", "rotary")


class TransformerBlock(ScoresOnRequest, keras.layers.Layer):
    """Base of the transformer blocks.

    A sub-block `f` is applied as `x + dropout(f(norm(x)))` (pre-norm) or
    `norm(x + dropout(f(x)))` (post-norm). With `drop_path` training leaves out its
    whole update for some rows of a batch, and multiplies the others' by
    `1 / (1 - drop_path)` (stochastic depth, Huang et al. 2016, arXiv:1603.09382).

    Args:
        intermediate_dim: Size of the feed-forward network's hidden layer.
        num_heads: Number of attention heads; must divide the model size.
        dropout: Share of a sub-block's outputs, and of the feed-forward network's
            hidden units, dropped in training, in [0, 1).
        attention_dropout: Share of attention scores dropped, in [0, 1).
        activation: Activation of the feed-forward network.
        layer_norm_epsilon: Added to the variance in layer normalisation.
        normalize_first: Pre-norm, which trains deep stacks without warm-up tricks;
            `False` gives post-norm, as published first.
        attention: Name of a multi-head layer of the registry.
        attention_options: Further arguments of that layer, such as
            `{"score": "cosine"}` or `{"num_key_value_heads": 1}`. Those that speak of
            positions (`mask`, `sliding_window`, `rotary`) hold for self-attention:
            positions of a memory are counted apart.
        drop_path: Share of the rows of a batch that skip a sub-block in training, in
            [0, 1); each sub-block draws its own.
    """

    def __init__(
        self,
        intermediate_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: Any = "relu",
        layer_norm_epsilon: float = 1e-5,
        normalize_first: bool = True,
        attention: str = "multi_head",
        attention_options: dict | None = None,
        drop_path: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.intermediate_dim = positive_integer("intermediate_dim", intermediate_dim)
        self.num_heads = positive_integer("num_heads", num_heads)
        self.dropout = fraction("dropout", dropout)
        self.attention_dropout = fraction("attention_dropout", attention_dropout)
        self.activation = keras.activations.get(activation)
        self.layer_norm_epsilon = layer_norm_epsilon
        self.normalize_first = normalize_first
        self.attention = attention
        self.attention_options = dict(attention_options or {})
        self.drop_path = fraction("drop_path", drop_path)
        self.supports_masking = True

    def make_attention(
        self, size: int, name: str, is_self: bool = True
    ) -> keras.layers.Layer:
        """An attention layer for a model of `size`."""
        require(
            size % self.num_heads == 0,
            "`num_heads` must divide the model size.",
            num_heads=self.num_heads,
            size=size,
        )
        options = {
            "num_heads": self.num_heads,
            "key_dim": size // self.num_heads,
            "dropout": self.attention_dropout,
            **self.attention_options,
        }
        if not is_self:
            options = {k: v for k, v in options.items() if k not in _POSITIONAL}
        return layers.get(self.attention, **options, dtype=self.dtype_policy, name=name)

    def make_norm(self, shape: tuple, name: str) -> keras.layers.Layer:
        norm = keras.layers.LayerNormalization(
            epsilon=self.layer_norm_epsilon, dtype=self.dtype_policy, name=name
        )
        norm.build(shape)
        return norm

    def make_feed_forward(self, shape: tuple) -> None:
        self.feed_forward = FeedForward(
            self.intermediate_dim,
            self.activation,
            self.dropout,
            dtype=self.dtype_policy,
            name="feed_forward",
        )
        self.feed_forward.build(shape)
        self.feed_forward_norm = self.make_norm(shape, "feed_forward_norm")
        self.dropout_layer = keras.layers.Dropout(self.dropout, dtype=self.dtype_policy)
        self.drop_path_layer = keras.layers.Dropout(
            self.drop_path,
            noise_shape=(None, 1, 1),  # one draw for each row of the batch
            dtype=self.dtype_policy,
            name="drop_path",
        )

    def before(self, norm: Callable, inputs: Tensor) -> Tensor:
        """What a sub-block reads: the inputs, normalised first in pre-norm."""
        return norm(inputs) if self.normalize_first else inputs

    def after(
        self, norm: Callable, inputs: Tensor, update: Tensor, training: bool | None
    ) -> Tensor:
        """Inputs plus what a sub-block made of them, normalised last in post-norm."""
        update = self.dropout_layer(update, training=training)
        outputs = inputs + self.drop_path_layer(update, training=training)
        return outputs if self.normalize_first else norm(outputs)

    def feed_forward_residual(self, inputs: Tensor, training: bool | None) -> Tensor:
        """The feed-forward network with its residual connection."""
        norm = self.feed_forward_norm
        update = self.feed_forward(self.before(norm, inputs), training=training)
        return self.after(norm, inputs, update, training)

    def get_config(self):
        return {
            **super().get_config(),
            "intermediate_dim": self.intermediate_dim,
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation": keras.activations.serialize(self.activation),
            "layer_norm_epsilon": self.layer_norm_epsilon,
            "normalize_first": self.normalize_first,
            "attention": self.attention,
            "attention_options": self.attention_options,
            "drop_path": self.drop_path,
        }


def has_cache(attention: keras.layers.Layer) -> bool:
    """Whether `attention` keeps keys and values from step to step."""
    return isinstance(attention, KeyValueCache) and attention.keeps_cache


def cached(attention: Any) -> Any:
    """`attention`, if it can go step by step."""
    require(
        has_cache(attention),
        "To decode, `attention` must be a layer that keeps keys and values, such as "
        "'multi_head'.",
        attention=type(attention).__name__,
    )
    return attention
