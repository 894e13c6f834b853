"""Gated attention pooling: NumPy by hand, bags, what the gate is for."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from tests.backend import tensor, to_numpy

B, S, D, U = 2, 5, 7, 3


@pytest.mark.parametrize("use_bias", [False, True])
def test_equals_its_formula(use_bias):
    x = tensor(B, S, D)
    layer = layers.GatedAttention(U, use_bias=use_bias)
    layer(x)
    random = np.random.default_rng(1)
    layer.set_weights([random.normal(size=x.shape) for x in layer.get_weights()])
    output, scores = layer(x, return_attention_scores=True)

    numbers = to_numpy(x).astype("float64")

    def dense(layer):
        kernel, *bias = (to_numpy(weight) for weight in layer.weights)
        return numbers @ kernel + sum(bias)

    gate = 1 / (1 + np.exp(-dense(layer.gate_dense)))
    logits = (np.tanh(dense(layer.hidden_dense)) * gate) @ to_numpy(layer.scale)
    expected = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(to_numpy(scores), expected, atol=1e-6)
    np.testing.assert_allclose(
        to_numpy(output), np.einsum("bs,bsd->bd", expected, numbers), atol=1e-6
    )


def test_order_of_a_bag_does_not_matter():
    x, layer = tensor(B, S, D), layers.GatedAttention(U)
    order = np.random.default_rng(0).permutation(S)
    output, scores = layer(x, return_attention_scores=True)
    again, moved = layer(to_numpy(x)[:, order], return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(again), to_numpy(output), atol=1e-6)
    np.testing.assert_allclose(to_numpy(moved), to_numpy(scores)[:, order], atol=1e-6)


def test_padding_is_as_if_it_were_not_there():
    x, layer = tensor(B, S, D), layers.GatedAttention(U, use_bias=True)
    short = to_numpy(layer(x[:, :3]))
    mask = np.arange(S)[None] < np.full((B, 1), 3)
    np.testing.assert_allclose(to_numpy(layer(x, mask=mask)), short, atol=1e-6)


def test_c22_empty_bag_is_zero():
    layer = layers.GatedAttention(U)
    output, scores = layer(
        tensor(B, S, D), mask=np.zeros((B, S), bool), return_attention_scores=True
    )
    assert (to_numpy(output) == 0).all()
    assert (to_numpy(scores) == 0).all()


def test_number_of_parameters_is_that_of_the_docstring():
    layer = layers.GatedAttention(U)
    layer(tensor(B, S, D))
    assert layer.count_params() == (2 * D + 1) * U


@pytest.mark.slow
def test_learns_which_instance_decides():
    """A bag is positive if one of its instances is: attention must find that one."""
    random = np.random.default_rng(0)
    bags = random.normal(size=(512, 6, 4)).astype("float32")
    labels = random.integers(0, 2, 512).astype("float32")
    at = random.integers(0, 6, 512)
    bags[np.arange(512), at] += 4 * labels[:, None]
    inputs = keras.Input((6, 4))
    pooled, scores = layers.GatedAttention(8)(inputs, return_attention_scores=True)
    model = keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(pooled))
    model.compile(
        keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"]
    )
    model.fit(bags, labels, epochs=10, batch_size=32, verbose=0)
    _, accuracy = model.evaluate(bags, labels, verbose=0)
    weights = keras.Model(inputs, scores).predict(bags, verbose=0)
    found = (weights.argmax(-1) == at)[labels == 1].mean()
    assert accuracy > 0.95
    assert found > 0.95


def test_wrong_units_are_refused():
    with pytest.raises(ValueError, match="`units` must be a positive integer"):
        layers.GatedAttention(0)


def test_float_mask_is_refused():
    with pytest.raises(ValueError, match="`mask` must be bool or int"):
        layers.GatedAttention(U)(tensor(B, S, D), mask=np.ones((B, S), "float32"))
