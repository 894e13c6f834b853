"""A learned vector in front of a sequence."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="keras_attention")
class ClassToken(keras.layers.Layer):
    """Puts one learned vector, the same for every row, before a sequence.

    What an encoder makes of it by attending to the others stands for the whole: a
    classifier reads position 0. Carries the mask, in which the token is real. Memory
    `O(B T D)`, D parameters.

    Shapes:
        B batch, T length, D size.

    Args:
        initializer: Initializer of the vector; 0 as in the authors' code.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, T, D)`.

    Returns:
        `(B, 1 + T, D)`.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention import blocks
        >>> y = blocks.ClassToken()(np.ones((1, 3, 2), "float32"))
        >>> keras.ops.convert_to_numpy(y)[0, :, 0].tolist()
        [0.0, 1.0, 1.0, 1.0]

    Source:
        Dosovitskiy et al. 2021, arXiv:2010.11929, equation 1; Devlin et al. 2019,
        arXiv:1810.04805.
    """

    def __init__(self, initializer="zeros", **kwargs):
        super().__init__(**kwargs)
        self.initializer = keras.initializers.get(initializer)
        self.supports_masking = True

    def build(self, input_shape):
        self.token = self.add_weight(
            shape=(input_shape[-1],), initializer=self.initializer, name="token"
        )

    def call(self, inputs):
        shape = (ops.shape(inputs)[0], 1, inputs.shape[-1])
        token = ops.cast(ops.convert_to_tensor(self.token), inputs.dtype)
        return ops.concatenate([ops.broadcast_to(token, shape), inputs], axis=1)

    def compute_mask(self, inputs, previous_mask):
        if previous_mask is None:
            return None
        return ops.concatenate(
            [ops.ones_like(previous_mask[:, :1]), previous_mask], axis=1
        )

    def compute_output_shape(self, input_shape):
        batch, length, size = input_shape
        return (batch, None if length is None else length + 1, size)

    def get_config(self):
        return {
            **super().get_config(),
            "initializer": keras.initializers.serialize(self.initializer),
        }
