"""An attention cell in its loop, so that the contract can call it like a layer."""

from collections.abc import Callable
from functools import partial

import keras

from keras_attention import layers
from keras_attention.layers.base import ScoresOnRequest
from tests.rows import H


@keras.saving.register_keras_serializable(package="tests")
class Recurrent(ScoresOnRequest, keras.layers.Layer):
    """An `AttentionCell` run over a sequence: the call contract around a cell."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.cell = cell
        self.rnn = keras.layers.RNN(
            cell, return_sequences=True, dtype=self.dtype_policy
        )
        self.supports_masking = True

    def build(self, query_shape, value_shape):
        self.cell.build_for(query_shape, value_shape)

    def call(self, query, value, value_mask=None, return_attention_scores=False):
        state = self.cell.memory_state(value, value_mask)
        output = self.rnn(query, initial_state=state)
        if not return_attention_scores:
            return output
        return output, self.cell.alignments(output, state)

    def multiply_adds(self):
        return 0

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_spec(
        self, query, value, value_mask=None, return_attention_scores=False
    ):
        shape = (*query.shape[:2], self.cell.units + value.shape[-1])
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        shape = (*query.shape[:2], value.shape[1])
        return output, keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        cell = keras.saving.serialize_keras_object(self.cell)
        return {**super().get_config(), "cell": cell}

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config["cell"])
        return cls(**{**config, "cell": cell})


# TensorFlow has no bfloat16 kernel for the default, orthogonal initializer.
gru_cell = partial(keras.layers.GRUCell, recurrent_initializer="glorot_uniform")
lstm_cell = partial(keras.layers.LSTMCell, recurrent_initializer="glorot_uniform")


def recurrent(order: str, cell: Callable, attention: Callable) -> Callable:
    """A factory of a cell in its loop; further options go to the attention."""

    def make(dtype=None, activity_regularizer=None, **options):
        wrapped = layers.AttentionCell(
            cell(H, dtype=dtype), attention(dtype=dtype, **options), order, dtype=dtype
        )
        return Recurrent(
            wrapped, dtype=dtype, activity_regularizer=activity_regularizer
        )

    return make
