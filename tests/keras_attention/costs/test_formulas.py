"""Formulas of Keras's layers against the traced graph, and when a formula holds."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import costs, layers
from keras_attention.costs import formulas
from tests.backend import tensorflow_only
from tests.graph_products import products_of

B, T, S, D = 2, 5, 7, 12  # batch, query length, key length, model size
N, H, V = 4, 3, 11  # heads, head size, value size
SELF, CROSS = [(B, T, D)] * 2, [(B, T, D), (B, S, D)]

KERAS = {
    "dense": (lambda: keras.layers.Dense(V), [(B, T, D)]),
    "einsum": (lambda: keras.layers.EinsumDense("abc,cd->abd", (None, V)), [(B, T, D)]),
    "einsum_ellipsis": (
        lambda: keras.layers.EinsumDense("...c,cd->...d", (T, 13, V)),
        [(B, T, 13, D)],
    ),
    "conv1d": (lambda: keras.layers.Conv1D(V, 3, padding="causal"), [(B, T, D)]),
    "conv2d": (
        lambda: keras.layers.Conv2D(V, (2, 3), strides=(1, 2), padding="same"),
        [(B, T, S, D)],
    ),
    "conv2d_groups": (lambda: keras.layers.Conv2D(6, 3, groups=3), [(B, T, S, D)]),
    "conv3d": (lambda: keras.layers.Conv3D(V, 2), [(B, 3, T, S, D)]),
    "depthwise": (
        lambda: keras.layers.DepthwiseConv2D(3, depth_multiplier=2),
        [(B, T, S, D)],
    ),
    "separable": (
        lambda: keras.layers.SeparableConv2D(V, 3, depth_multiplier=2),
        [(B, T, S, D)],
    ),
    "transposed": (
        lambda: keras.layers.Conv2DTranspose(V, 3, strides=2),
        [(B, T, S, D)],
    ),
    "gru": (lambda: keras.layers.GRU(V, unroll=True), [(B, T, D)]),
    "lstm": (
        lambda: keras.layers.Bidirectional(keras.layers.LSTM(V, unroll=True)),
        [(B, T, D)],
    ),
    "simple_rnn": (lambda: keras.layers.SimpleRNN(V, unroll=True), [(B, T, D)]),
    "time_distributed": (
        lambda: keras.layers.TimeDistributed(keras.layers.Dense(V)),
        [(B, T, D)],
    ),
    "multi_head": (lambda: keras.layers.MultiHeadAttention(N, H, V), CROSS),
    "group_query": (lambda: keras.layers.GroupQueryAttention(H, N, 2), CROSS),
    "norm": (keras.layers.LayerNormalization, [(B, T, D)]),
}


class Unknown(keras.layers.Layer):
    """A layer that says nothing about what it multiplies."""

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], V), name="kernel")

    def call(self, inputs):
        return ops.matmul(inputs, self.kernel)


class Known(Unknown):
    def multiply_adds(self, inputs_shape):
        return int(np.prod(inputs_shape)) * V


@tensorflow_only
@pytest.mark.parametrize("name", KERAS)
def test_layers_of_keras_equal_the_traced_graph(name):
    make, shapes = KERAS[name]
    layer = make()
    report = costs.report(layer, inputs=list(shapes))
    assert report.not_counted == []
    assert report.total.multiply_adds == products_of(layer, *shapes)
    assert report.total.parameters == layer.count_params()


def test_a_layer_may_say_what_it_multiplies():
    report = costs.report(Known(), inputs=(B, T, D))
    assert report.not_counted == []
    assert report.total.multiply_adds == B * T * D * V


def test_a_subclass_outgrows_the_formula_it_overrides():
    class Wider(Known):
        def call(self, inputs):
            return ops.matmul(super().call(inputs), ops.ones((V, V)))

    class Projected(keras.layers.Dense):
        def call(self, inputs):
            return ops.matmul(super().call(inputs), ops.ones((V, V)))

    class Twice(layers.DotProductAttention):
        def attend_projected(self, *args, **kwargs):
            super().attend_projected(*args, **kwargs)
            return super().attend_projected(*args, **kwargs)

    for layer, inputs in [
        (Wider(), [(B, T, D)]),
        (Projected(V), [(B, T, D)]),
        (Twice(), list(SELF)),
    ]:
        assert not costs.report(layer, inputs=inputs).total.counted


def test_a_subclass_that_only_adds_options_keeps_it():
    class Named(keras.layers.Dense):
        pass

    report = costs.report(Named(V), inputs=(B, T, D))
    assert report.not_counted == []
    assert report.total.multiply_adds == B * T * D * V


def test_products_between_layers_of_a_functional_model_are_not_counted():
    x = keras.Input((T, D))
    model = keras.Model(x, ops.matmul(x, ops.transpose(x, (0, 2, 1))), name="mine")
    assert costs.report(model, batch=B).not_counted == ["mine (Functional)"]


def test_a_quantized_layer_is_not_counted():
    layer = keras.layers.Dense(V)
    layer.build((None, D))
    layer.enable_lora(2)
    assert not costs.report(layer, inputs=(B, T, D)).total.counted


def test_neither_is_a_projection_of_ours_that_was_altered():
    layer = layers.MultiHeadAttention(N, H)
    layer.build((B, T, D), (B, S, D))
    assert costs.report(layer, inputs=list(CROSS)).total.counted
    layer.query_dense.enable_lora(2)
    assert not costs.report(layer, inputs=list(CROSS)).total.counted


# ------------------------------------------------------------------------- the parts


def test_a_formula_is_asked_by_name():
    x = np.ones((B, T, D))

    def formula(inputs_shape, memory_shape, reverse=False, other=3):
        return inputs_shape, memory_shape, reverse, other

    given = {"inputs": x, "training": True, "reverse": True}
    assert formulas.ask(formula, given) == ((B, T, D), None, True, 3)


def test_the_owner_is_the_class_whose_method_runs():
    class Named(Known):
        pass

    assert formulas.owner(Named, "call") is Unknown
    assert formulas.owner(Named, "multiply_adds") is Known
    assert formulas.owner(Named, "no_such_method") is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: keras.layers.BatchNormalization(),
        lambda: keras.layers.GlobalAveragePooling1D(),
        lambda: keras.layers.ReLU(),
        lambda: keras.layers.Reshape((-1,)),
        lambda: layers.MaskedMeanPooling(),
    ],
)
def test_layers_that_multiply_no_matrices(make):
    report = costs.report(make(), inputs=(B, T, D))
    assert report.not_counted == []
    assert report.total.multiply_adds == 0


def test_a_lambda_is_not_counted():
    layer = keras.layers.Lambda(lambda x: ops.matmul(x, ops.ones((D, V))))
    assert not costs.report(layer, inputs=(B, T, D)).total.counted


def test_a_product_layer_of_keras_is_not_counted():
    layer = keras.layers.Dot(axes=2)
    assert not costs.report(layer, inputs=[list(CROSS)]).total.counted
