import keras
import numpy as np
import pytest

from keras_attention import layers
from keras_attention.interpretation import capture
from tests.backend import tensor, to_numpy

X = np.array([[[[1, 2], [3, -4]]]], "float32")
CHANNELS = np.array([0.5, 0.75])
POSITIONS = np.array([[0.952574], [0.268941]])  # sigmoids of 3 and -1


def by_hand(combine):
    """Channels weigh 1/2 and 3/4; a position the sigmoid of the sum of its channels."""
    layer = layers.ConcurrentSqueezeExcitation(2, combine, name="sc_se")
    layer(X)
    channels = [[1], [1]], [0], [[0, np.log(3)]], [0, 0]
    layer.set_weights([np.array(x, "float32") for x in (*channels, [[1], [1]])])
    return layer


def test_the_sum_by_hand():
    output, gate = by_hand("add")(X, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(gate)[0, 0], CHANNELS + POSITIONS, atol=1e-5)
    expected = X * CHANNELS + X * POSITIONS
    np.testing.assert_allclose(to_numpy(output), expected, atol=1e-5)


def test_the_maximum_by_hand():
    """Of the weighed maps: -4 times the smaller gate is the larger number."""
    output, gate = by_hand("max")(X, return_attention_scores=True)
    expected = [[0.952574, 0.952574], [0.5, 0.268941]]
    np.testing.assert_allclose(to_numpy(gate)[0, 0], expected, atol=1e-6)
    np.testing.assert_allclose(to_numpy(output)[0, 0, 1], [1.5, -1.075766], atol=1e-5)


def test_both_gates_can_be_captured():
    inputs = keras.Input((1, 2, 2))
    model = keras.Model(inputs, by_hand("add")(inputs))
    record = capture(model, X)
    assert record.names == ["sc_se/channel_attention", "sc_se/spatial_attention"]
    np.testing.assert_allclose(record.numpy(0)[0, 0, 0], CHANNELS, atol=1e-6)
    np.testing.assert_allclose(record.numpy(1)[0, 0], POSITIONS, atol=1e-6)


def test_parameters():
    layer = layers.ConcurrentSqueezeExcitation()
    layer(tensor(2, 3, 5, 8))
    assert layer.count_params() == 2 * 8 * 4 + 2 * 8 + 4


def test_unknown_combinations_are_refused():
    with pytest.raises(ValueError, match="`combine` must be one of 'add', 'max'"):
        layers.ConcurrentSqueezeExcitation(combine="multiply")
