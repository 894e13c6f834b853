"""The position-wise network of a transformer block."""

import keras

from keras_attention.errors import fraction, positive_integer


@keras.saving.register_keras_serializable(package="keras_attention")
class FeedForward(keras.layers.Layer):
    """Two dense layers applied to every position alike.

    `W_2 f(W_1 x + b_1) + b_2`. Time `O(B T D F)`, parameters `2 D F + D + F`.

    Shapes:
        B batch, T length, D model size, F `intermediate_dim`.

    Args:
        intermediate_dim: Size between the two layers, F; four times D is usual.
        activation: Any Keras activation, f.
        dropout: Share of intermediate units dropped in training, in [0, 1).
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(..., D)`.
        training: Whether to apply dropout.

    Returns:
        `(..., D)`.

    Raises:
        ValueError: for an `intermediate_dim` below 1 or a dropout outside [0, 1).

    Examples:
        >>> import numpy as np
        >>> from keras_attention import blocks
        >>> y = blocks.FeedForward(intermediate_dim=8)(np.ones((2, 3, 4)))
        >>> tuple(y.shape)
        (2, 3, 4)

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, equation 2.
    """

    def __init__(self, intermediate_dim, activation="relu", dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_dim = positive_integer("intermediate_dim", intermediate_dim)
        self.activation = keras.activations.get(activation)
        self.dropout = fraction("dropout", dropout)
        self.supports_masking = True

    def build(self, input_shape):
        policy = self.dtype_policy
        self.expand = keras.layers.Dense(
            self.intermediate_dim, self.activation, dtype=policy, name="expand"
        )
        self.contract = keras.layers.Dense(
            input_shape[-1], dtype=policy, name="contract"
        )
        self.dropout_layer = keras.layers.Dropout(self.dropout, dtype=policy)
        self.expand.build(input_shape)
        self.contract.build((*input_shape[:-1], self.intermediate_dim))

    def call(self, inputs, training=None):
        hidden = self.dropout_layer(self.expand(inputs), training=training)
        return self.contract(hidden)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "intermediate_dim": self.intermediate_dim,
            "activation": keras.activations.serialize(self.activation),
            "dropout": self.dropout,
        }
