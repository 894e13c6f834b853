import keras
import numpy as np
import pytest

from keras_attention import layers
from keras_attention.interpretation import capture
from tests.backend import tensor, to_numpy

# Two positions of two channels: means (2, -1), maxima (3, 2).
X = np.array([[[[1, 2], [3, -4]]]], "float32")


def by_hand():
    """Channels weigh 1/2 and 3/4; a position the sigmoid of its mean less its maximum.

    After the channels the means are 1 and -0.75, the maxima 1.5 and 1.5.
    """
    layer = layers.ConvolutionalBlockAttention(ratio=2, kernel_size=1, name="cbam")
    layer(X)
    unit, gates = [[1], [1]], [[0, np.log(3) / 6]]
    layer.set_weights([np.array(x, "float32") for x in (unit, gates, [[[[1], [-1]]]])])
    return layer


CHANNELS, POSITIONS = np.array([0.5, 0.75]), np.array([[0.377541], [0.095349]])


def test_equals_its_values_by_hand():
    output, gate = by_hand()(X, return_attention_scores=True)
    expected = CHANNELS * POSITIONS
    np.testing.assert_allclose(to_numpy(gate)[0, 0], expected, atol=1e-6)
    np.testing.assert_allclose(to_numpy(output), X * expected, atol=1e-5)


def test_both_gates_can_be_captured():
    inputs = keras.Input((1, 2, 2))
    model = keras.Model(inputs, by_hand()(inputs))
    record = capture(model, X)
    assert record.names == ["cbam/channel_attention", "cbam/spatial_attention"]
    channels, positions = record.numpy(0), record.numpy(1)
    np.testing.assert_allclose(channels[0, 0, 0], CHANNELS, atol=1e-6)
    np.testing.assert_allclose(positions[0, 0], POSITIONS, atol=1e-6)


@pytest.mark.parametrize("bias", [False, True])
def test_parameters(bias):
    layer = layers.ConvolutionalBlockAttention(4, 5, use_bias=bias)
    layer(tensor(2, 3, 5, 8))
    assert layer.count_params() == 2 * 8 * 2 + 2 * 25 + bias * (2 + 8 + 1)


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="`kernel_size` must be a positive integer"):
        layers.ConvolutionalBlockAttention(kernel_size=0)
    with pytest.raises(ValueError, match="`kernel_size` must be odd"):
        layers.ConvolutionalBlockAttention(kernel_size=4)
