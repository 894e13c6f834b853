"""What is noted of each layer, and that nothing is left behind."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import blocks, costs, layers

B, T, S, D = 2, 5, 7, 12  # batch, query length, key length, model size
N, H, V = 4, 3, 11  # heads, head size, value size
SELF, CROSS = [(B, T, D)] * 2, [(B, T, D), (B, S, D)]


def functional():
    x = keras.Input((None, D), name="x")
    y = layers.MultiHeadAttention(N, H, name="look")(x, x)
    return keras.Model(x, keras.layers.Dense(V, name="out")(y), name="small")


@pytest.mark.parametrize("unroll", [False, True])
def test_a_loop_counts_each_step(unroll):
    total = costs.report(keras.layers.GRU(V, unroll=unroll), inputs=(B, T, D)).total
    assert total.parameters == 3 * V * (D + V) + 6 * V
    assert total.multiply_adds == B * T * 3 * V * (D + V)
    assert total.activation_bytes == 4 * B * T * V


def test_output_and_state_of_a_cell_are_held():
    total = costs.report(keras.layers.LSTM(V), inputs=(B, T, D)).total
    assert total.activation_bytes == 2 * 4 * B * T * V


def test_stacked_cells_by_hand():
    # Keras runs them once more, before the loop.
    cells = [keras.layers.GRUCell(V), keras.layers.LSTMCell(H)]
    total = costs.report(keras.layers.RNN(cells), inputs=(B, T, D)).total
    assert total.multiply_adds == B * T * (3 * V * (D + V) + 4 * H * (V + H))


def test_a_loop_in_a_loop():
    inner = keras.layers.TimeDistributed(keras.layers.GRU(V))
    total = costs.report(inner, inputs=(B, 3, T, D)).total
    assert total.multiply_adds == 3 * B * T * 3 * V * (D + V)


def test_a_score_of_pairs_holds_a_vector_for_each():
    report = costs.report(layers.AdditiveAttention(V, name="look"), inputs=list(CROSS))
    assert report.rows[0].activation_bytes == 4 * B * (T * S * (1 + V) + T * D)


def test_half_precision_halves_the_activations():
    reports = [
        costs.report(layers.MultiHeadAttention(N, H, dtype=dtype), inputs=list(SELF))
        for dtype in ("float32", "mixed_bfloat16")
    ]
    single, half = (report.total for report in reports)
    assert half.weight_bytes == single.weight_bytes
    assert 2 * half.activation_bytes == single.activation_bytes


def test_shared_layers_count_their_weights_once_and_their_calls_each():
    dense = keras.layers.Dense(D, name="dense")
    x = keras.Input((T, D))
    model = keras.Model(x, dense(dense(x)))
    total = costs.report(model, batch=B).total
    assert total.parameters == model.count_params()
    assert total.multiply_adds == 2 * B * T * D * D


def test_layers_that_pass_on_their_input_hold_nothing():
    report = costs.report(keras.layers.Dropout(0.5), inputs=(B, T, D))
    assert report.total.activation_bytes == 0


def test_the_model_is_as_before():
    model = functional()
    x = np.ones((B, T, D), "float32")
    weights, before = model.get_weights(), ops.convert_to_numpy(model(x))
    costs.report(model, batch=B, length=T)
    layer = model.get_layer("look")
    assert not {"call", "attend_projected"} & set(vars(layer))
    for old, new in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    np.testing.assert_array_equal(ops.convert_to_numpy(model(x)), before)


def test_also_after_an_error():
    model = functional()
    with pytest.raises(Exception):  # noqa: B017, PT011 - each backend has its own
        costs.report(model, batch=B, length=T, inputs=[(None, None, D + 1)])
    assert "call" not in vars(model.get_layer("look"))


def test_unbuilt_subclassed_models_are_built():
    @keras.saving.register_keras_serializable("tests")
    class Mine(keras.Model):
        def __init__(self):
            super().__init__(name="mine")
            self.block = blocks.TransformerEncoder(17, N, name="block")

        def multiply_adds(self):
            return 0

        def call(self, inputs):
            return self.block(inputs)

    model = Mine()
    report = costs.report(model, B, T, inputs=(None, None, D))
    assert report.total.parameters == model.count_params() > 0
    assert report.not_counted == []
    assert report["block/self_attention"].multiply_adds > 0


# ------------------------------------------------------------------------- the loops


def test_a_fused_kernel_is_counted_as_its_cell():
    class Fused(keras.layers.GRU):
        def inner_loop(self, sequences, initial_state, mask, training=False):
            outputs = ops.zeros((*ops.shape(sequences)[:2], self.units))
            return outputs[:, -1], outputs, [outputs[:, -1]]

    fused, plain = (
        costs.report(make(V), inputs=(B, T, D)).total
        for make in (Fused, keras.layers.GRU)
    )
    assert fused.multiply_adds == plain.multiply_adds
    assert fused.activation_bytes == plain.activation_bytes


def test_an_attention_cell_by_hand():
    decoder = blocks.RecurrentDecoder(V, "additive", name="decoder")
    shapes = [(B, T, D), (B, S, D), (B, D)]
    report = costs.report(decoder, inputs=shapes)
    cell = report["attention_cell/gru"]
    assert cell.multiply_adds == B * T * 3 * V * (D + D + V)
    look = {row.layer.rpartition("/")[2]: row for row in report.rows}
    assert look["attention"].multiply_adds == B * T * S * (V + D)
    assert look["query"].multiply_adds == B * T * V * V
    assert look["key"].multiply_adds == B * S * D * V


# ------------------------------------------------------------------ what is not known


def test_attention_that_goes_another_way_is_not_counted():
    class Mine(layers.MultiHeadAttention):
        def call(self, query, value, key=None):
            query, key = self.project_query(query), self.project_key(value)
            scores = ops.einsum("btnh,bsnh->bnts", query, key)
            output = ops.einsum("bnts,bsnh->btnh", scores, self.project_value(value))
            return self.output_dense(output)

    report = costs.report(Mine(N, H, name="mine"), inputs=list(SELF))
    assert report.not_counted == ["mine (Mine)"]
    assert report.total.multiply_adds == 4 * B * T * D * N * H


def test_a_layer_that_is_never_called_has_its_parameters():
    class Spare(keras.layers.Layer):
        def build(self, input_shape):
            self.used = keras.layers.Dense(V, name="used")
            self.spare = keras.layers.Dense(V, name="spare")
            self.used.build(input_shape)
            self.spare.build(input_shape)

        def multiply_adds(self):
            return 0

        def call(self, inputs):
            return self.used(inputs)

    layer = Spare(name="both")
    report = costs.report(layer, inputs=(B, T, D))
    assert report["spare"].parameters == D * V + V
    assert report.total.parameters == layer.count_params() == 2 * (D * V + V)
    assert report.total.multiply_adds == B * T * D * V
