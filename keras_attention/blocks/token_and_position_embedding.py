"""Tokens to vectors that know their position, and back to logits."""

import math

import keras
from keras import ops

from keras_attention.errors import fraction, one_of, positive_integer
from keras_attention.layers import PositionEmbedding, SinusoidalPositionEncoding

POSITIONS = ("sinusoidal", "learned", "none")


@keras.saving.register_keras_serializable(package="keras_attention")
class TokenAndPositionEmbedding(keras.layers.Layer):
    """Token embedding scaled by `sqrt(D)`, plus positions; its transpose gives logits.

    `sqrt(D) E[x_t] + P[t]`; with `reverse=True` `h E^T`, the tied output layer. Carries
    the padding mask `tokens != 0`, which a bare `+` would lose. Parameters `V D`.

    Shapes:
        B batch, T length, D `hidden_dim`, V vocabulary size.

    Args:
        vocabulary_size: Number of tokens, V; id 0 is padding.
        hidden_dim: Size of a vector, D.
        positions: `"sinusoidal"`, `"learned"` or `"none"` (a recurrent model knows).
        max_sequence_length: Longest length; needed by learned positions.
        dropout: Share dropped after the sum in training, in [0, 1).
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: Token ids `(B, T)`, or with `reverse=True` vectors `(B, T, D)`.
        start_index: Position of the first token, for decoding step by step.
        reverse: Return logits over the vocabulary.
        training: Whether to apply dropout.

    Returns:
        `(B, T, D)`, or logits `(B, T, V)`.

    Raises:
        ValueError: for unknown positions, or learned ones without a longest length.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import blocks
        >>> layer = blocks.TokenAndPositionEmbedding(vocabulary_size=9, hidden_dim=4)
        >>> x = layer(np.array([[3, 4, 0]]))
        >>> tuple(x.shape), tuple(layer(x, reverse=True).shape)
        ((1, 3, 4), (1, 3, 9))

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, sections 3.4 and 3.5; tied output Press
        and Wolf 2017, arXiv:1608.05859.
    """

    def __init__(
        self,
        vocabulary_size,
        hidden_dim,
        positions="sinusoidal",
        max_sequence_length=None,
        dropout=0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocabulary_size = positive_integer("vocabulary_size", vocabulary_size)
        self.hidden_dim = positive_integer("hidden_dim", hidden_dim)
        self.positions = one_of("positions", positions, POSITIONS)
        if positions == "learned":
            positive_integer("max_sequence_length", max_sequence_length)
        self.max_sequence_length = max_sequence_length
        self.dropout = fraction("dropout", dropout)
        self.supports_masking = True

    def build(self, input_shape):
        scale = self.hidden_dim**-0.5
        self.embeddings = self.add_weight(
            shape=(self.vocabulary_size, self.hidden_dim),
            initializer=keras.initializers.RandomNormal(stddev=scale),
            name="embeddings",
        )
        self.position_layer = self._position_layer()
        if self.position_layer is not None:
            self.position_layer.build((None, None, self.hidden_dim))
        self.dropout_layer = keras.layers.Dropout(self.dropout, dtype=self.dtype_policy)

    def _position_layer(self):
        if self.positions == "sinusoidal":
            return SinusoidalPositionEncoding(dtype=self.dtype_policy)
        if self.positions == "learned":
            return PositionEmbedding(self.max_sequence_length, dtype=self.dtype_policy)
        return None

    def call(self, inputs, start_index=0, reverse=False, training=None):
        embeddings = ops.convert_to_tensor(self.embeddings, dtype=self.compute_dtype)
        if reverse:
            return ops.matmul(inputs, ops.transpose(embeddings))
        x = ops.take(embeddings, ops.cast(inputs, "int32"), axis=0)
        x = x * self.hidden_dim**0.5
        if self.position_layer is not None:
            x = self.position_layer(x, start_index=start_index)
        return self.dropout_layer(x, training=training)

    def multiply_adds(self, inputs_shape) -> int:
        """`B T D V` in reverse, from vectors `(B, T, D)`; looking up ids has none."""
        if len(inputs_shape) == 2:
            return 0
        return math.prod(inputs_shape) * self.vocabulary_size

    def compute_mask(self, inputs, previous_mask):
        # Ids (B, T) make the mask; vectors (B, T, D) pass theirs on.
        return ops.not_equal(inputs, 0) if len(inputs.shape) == 2 else previous_mask

    def compute_output_spec(self, inputs, start_index=0, reverse=False, training=None):
        last = self.vocabulary_size if reverse else self.hidden_dim
        return keras.KerasTensor((*inputs.shape[:2], last), dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "hidden_dim": self.hidden_dim,
            "positions": self.positions,
            "max_sequence_length": self.max_sequence_length,
            "dropout": self.dropout,
        }
