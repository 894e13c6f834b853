"""Kernel regression: its formula, its limits, a bandwidth that is learned."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from tests.backend import tensor, to_numpy


def line(points=9):
    """Known inputs on a grid and their values, one feature each."""
    x = np.linspace(-2, 2, points, dtype="float32")[None, :, None]
    return x, np.sin(2 * x)


def test_equals_nadaraya_watson():
    query, key, value = tensor(2, 5, 3), tensor(2, 7, 3, seed=1), tensor(2, 7, 4)
    found = layers.KernelAttention(0.8)(query, value, key)
    q, k, v = (to_numpy(x).astype("float64") for x in (query, key, value))
    squares = ((q[:, :, None] - k[:, None]) ** 2).sum(-1)
    kernel = np.exp(-squares / (2 * 0.8**2))
    expected = kernel @ v / kernel.sum(-1, keepdims=True)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-5, atol=1e-5)


def test_narrow_bandwidth_follows_points_and_a_wide_one_the_mean():
    x, y = line()
    near = to_numpy(layers.KernelAttention(0.05)(x, y, x))
    np.testing.assert_allclose(near, y, atol=1e-5)
    far = to_numpy(layers.KernelAttention(1e3)(x, y, x))
    np.testing.assert_allclose(far, np.full_like(y, y.mean()), atol=1e-4)


def test_learned_bandwidth_starts_at_the_given_one():
    x, y = line()
    fixed = layers.KernelAttention(0.5)(x, y, x)
    layer = layers.KernelAttention(0.5, learnable=True)
    np.testing.assert_allclose(to_numpy(layer(x, y, x)), to_numpy(fixed), atol=1e-6)
    assert len(layer.trainable_weights) == 1


def test_bandwidth_is_learned():
    """Too wide at first; training narrows it and the fit improves."""
    x, y = line(17)
    inputs = [keras.Input((None, 1)) for _ in range(3)]
    layer = layers.KernelAttention(0.8, learnable=True)
    model = keras.Model(inputs, layer(*inputs))
    model.compile(keras.optimizers.Adam(0.1), "mse")
    half = [x[:, ::2], y[:, 1::2], x[:, 1::2]]
    losses = [model.train_on_batch(half, y[:, ::2]) for _ in range(40)]
    assert np.exp(float(to_numpy(layer.log_bandwidth))) < 0.5
    assert losses[-1] < 0.3 * losses[0]


@pytest.mark.parametrize("bandwidth", [0, -1.0, "wide", None])
def test_bandwidth_is_positive(bandwidth):
    with pytest.raises(ValueError, match="`bandwidth` must be a positive number"):
        layers.KernelAttention(bandwidth)
