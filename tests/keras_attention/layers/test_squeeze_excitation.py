import numpy as np
import pytest

from keras_attention import layers
from tests.backend import tensor, to_numpy

# Two positions of two channels: means (2, -1), maxima (3, 2).
X = np.array([[[[1, 2], [3, -4]]]], "float32")
LN3 = np.log(3)


def with_weights(layer, *weights):
    layer(X)
    layer.set_weights([np.array(weight, "float32") for weight in weights])
    return layer


def test_equals_its_values_by_hand():
    """relu(2 - 1) = 1, and sigmoid(log 3) = 3/4."""
    layer = with_weights(
        layers.SqueezeExcitation(2), [[1], [1]], [0], [[0, LN3]], [0, 0]
    )
    output, gate = layer(X, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(gate), [[[[0.5, 0.75]]]], atol=1e-6)
    expected = [[[[0.5, 1.5], [1.5, -3]]]]
    np.testing.assert_allclose(to_numpy(output), expected, atol=1e-6)


def test_the_rectifier_and_the_biases():
    """relu(-2 + 1 + 0.5) = 0: the bias of the gate is all that is left."""
    layer = with_weights(
        layers.SqueezeExcitation(2), [[-1], [-1]], [0.5], [[9, 9]], [0, -LN3]
    )
    _, gate = layer(X, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(gate)[0, 0, 0], [0.5, 0.25], atol=1e-6)


def test_maxima_by_hand():
    """One unit sees 1 of the means and 5 of the maxima; the sigmoid sees their sum."""
    layer = with_weights(
        layers.SqueezeExcitation(2, pooling="mean_max", use_bias=False),
        [[1], [1]],
        [[0, LN3 / 6]],
    )
    _, gate = layer(X, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(gate)[0, 0, 0], [0.5, 0.75], atol=1e-6)


def test_activations():
    layer = with_weights(
        layers.SqueezeExcitation(
            2, activation="linear", gate_activation="tanh", use_bias=False
        ),
        [[-1], [0]],
        [[1, 0.5]],
    )
    _, gate = layer(X, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(gate)[0, 0, 0], np.tanh([-2, -1]), atol=1e-6)


def test_parameters():
    layer = layers.SqueezeExcitation(4)
    layer(tensor(2, 3, 5, 32))
    assert layer.count_params() == 2 * 32 * 8 + 32 + 8


def test_unknown_poolings_are_refused():
    with pytest.raises(ValueError, match="`pooling` must be one of 'mean', 'mean_max'"):
        layers.SqueezeExcitation(pooling="max")
