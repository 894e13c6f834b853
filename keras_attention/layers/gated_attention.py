"""Gated attention pooling, the attention of multiple-instance learning."""

import keras

from keras_attention.errors import positive_integer
from keras_attention.layers._pooling import BasePooling, weigh


@keras.saving.register_keras_serializable(package="keras_attention")
class GatedAttention(BasePooling):
    """Weighted mean of a bag of instances, scored by a small gated network.

    `sum_k a_k h_k` with `a = softmax(w . (tanh(V h) * sigmoid(U h)))`. For a label that
    belongs to a whole bag (patches of a slide, frames of a recording): the scores show
    the instances that decided. The gate lets the network leave the nearly linear part
    of the tanh. Order does not matter. Time `O(B S D units)`, memory
    `O(B S (D + units))`; multiply-adds `B S ((2 D + 1) units + D)`, parameters without
    bias `(2 D + 1) * units`.

    To gate the output of attention instead, see `MultiHeadAttention(use_gate=True)`.

    Shapes:
        B batch (bags), S instances, D size.

    Args:
        units: Size of the hidden layer; 128 in the paper.
        use_bias: Whether `V` and `U` have a bias, as in the authors' code but not in
            their equation.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, S, D)`.
        mask: `(B, S)`, True = a real instance; by default the hidden mask.
        return_attention_scores: Also return the scores.

    Returns:
        `(B, D)`, and with scores `(B, S)`. A bag without a real instance gives 0.

    Raises:
        ValueError: for `units` below 1, or a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y, scores = layers.GatedAttention(units=7)(
        ...     np.ones((2, 3, 4)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(scores.shape)
        ((2, 4), (2, 3))

    Source:
        Ilse et al. 2018, "Attention-based deep multiple instance learning",
        arXiv:1802.04712, equation 9.
    """

    def __init__(self, units: int, use_bias: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        self.use_bias = use_bias

    def build(self, input_shape):
        self.hidden_dense = self._dense("hidden", "tanh", input_shape)
        self.gate_dense = self._dense("gate", "sigmoid", input_shape)
        self.scale = self.add_weight(
            shape=(self.units,), initializer="glorot_uniform", name="scale"
        )

    def _dense(self, name, activation, shape):
        dense = keras.layers.Dense(
            self.units, activation, self.use_bias, name=name, dtype=self.dtype_policy
        )
        dense.build(shape)
        return dense

    def pool(self, inputs, mask):
        hidden = self.hidden_dense(inputs) * self.gate_dense(inputs)
        output, scores = weigh(self.scale[None], hidden, inputs, mask)
        return output[:, 0], scores[:, 0]

    def multiply_adds(self, inputs_shape) -> int:
        """`B S (units + D)`: the scores and the mean."""
        batch, length, size = inputs_shape
        return batch * length * (self.units + size)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "use_bias": self.use_bias,
        }
