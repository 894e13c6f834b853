"""Regression from known points: kernels, learned attention, leave-one-out."""

import keras
import numpy as np
import pytest

from keras_attention import models
from keras_attention.interpretation import capture
from keras_attention.models.attention_regressor import KINDS
from tests.backend import to_numpy

X = np.array([-2.0, -1.0, 0.5, 0.75, 3.0], "float32")
Y = np.array([1.0, 4.0, 2.0, 8.0, 5.0], "float32")
QUERIES = np.array([[-3.0], [0.0], [0.6]], "float32")


def regressor(kind, bandwidth=0.5):
    model = models.AttentionRegressor(len(X), kind, bandwidth, hidden_dim=3)
    model.remember(X, Y)
    return model


@pytest.mark.parametrize("kind", ["fixed", "learned"])
def test_a_kernel_is_that_of_nadaraya_and_watson(kind):
    model = regressor(kind)
    weights = np.exp(-((QUERIES - X) ** 2) / (2 * 0.5**2))
    weights /= weights.sum(axis=1, keepdims=True)
    record = capture(model, QUERIES)
    np.testing.assert_allclose(record.numpy("attention")[0], weights, atol=1e-5)
    np.testing.assert_allclose(to_numpy(record.output)[:, 0], weights @ Y, rtol=1e-5)
    assert model.bandwidth == pytest.approx(0.5)
    assert len(model.trainable_weights) == (kind == "learned")


def test_attention_is_the_scaled_dot_product_of_a_hidden_layer():
    model = regressor("attention")
    kernel, bias = (to_numpy(w) for w in model.hidden.weights)
    query, key = (to_numpy(p.kernel) for p in (model.query, model.key))

    def hidden(x):
        return np.tanh((2 * x - 1.0) / 5.0 * kernel + bias)  # [-2, 3] to [-1, 1]

    logits = hidden(QUERIES) @ query @ (hidden(X[:, None]) @ key).T / np.sqrt(3)
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    found = to_numpy(model(QUERIES))
    np.testing.assert_allclose(found[:, 0], weights @ Y, rtol=1e-4)
    assert model.bandwidth is None


@pytest.mark.parametrize("kind", KINDS)
def test_the_known_y_reach_the_output(kind):
    """Through the values: the same keys, other y, another answer."""
    model = regressor(kind)
    before = to_numpy(model(QUERIES))
    model.remember(X, Y + 10)
    np.testing.assert_allclose(to_numpy(model(QUERIES)), before + 10, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_in_training_a_point_does_not_see_itself(kind):
    model = regressor(kind)
    before = to_numpy(model(X[:, None], training=True))
    for i in range(len(X)):
        changed = Y.copy()
        changed[i] = 1e4
        model.remember(X, changed)
        after = to_numpy(model(X[:, None], training=True))
        assert after[i] == before[i]
        assert (np.delete(after, i) != np.delete(before, i)).any()
    assert not np.allclose(to_numpy(model(X[:, None])), before, atol=1e-3)


def test_points_of_one_x_are_left_out_together():
    model = models.AttentionRegressor(3, "fixed", 1.0)
    model.remember([0.0, 0.0, 2.0], [1.0, 3.0, 7.0])
    assert to_numpy(model(np.array([[0.0]]), training=True)) == pytest.approx(7.0)
    model.remember([0.0, 0.0, 0.0], [1.0, 3.0, 7.0])  # none is left
    assert to_numpy(model(np.array([[0.0]]), training=True)) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded(kind, tmp_path):
    model = regressor(kind)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(to_numpy(loaded(QUERIES)), to_numpy(model(QUERIES)))
    assert loaded.get_config() == model.get_config()


def test_far_queries_and_half_precision():
    """The nearest point at any distance; x that bfloat16 cannot tell apart."""
    model = regressor("fixed", bandwidth=1e-3)
    far = to_numpy(model(np.array([[1e6], [-1e6]], "float32")))
    np.testing.assert_allclose(far[:, 0], [5.0, 1.0])
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        model = models.AttentionRegressor(2, "learned", 0.1)
        model.remember([1900.0, 1901.0], [1.0, 3.0])
        found = to_numpy(model(np.array([[1901.0]])))
    finally:
        keras.config.set_dtype_policy("float32")
    np.testing.assert_allclose(found, [[3.0]])


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "mean"}, {"num_points": 0}, {"hidden_dim": 0}, {"bandwidth": 0.0}],
)
def test_what_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        models.AttentionRegressor(**{"num_points": 2, "kind": "fixed", **wrong})
