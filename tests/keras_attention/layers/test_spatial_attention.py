import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import tensor, to_numpy

X = np.array([[[[1, 3], [0, 4]], [[2, 2], [-1, 1]]]], "float32")
GATE = [[0.268941, 0.119203], [0.5, 0.268941]]
OUTPUT = [[[0.268941, 0.806824], [0, 0.476812]], [[1, 1], [-0.268941, 0.268941]]]


def of_mean_and_maximum(kernel_size=1, **options):
    """The mean less the maximum at the centre of the kernel."""
    layer = layers.SpatialAttention(kernel_size, **options)
    first = options.get("data_format") == "channels_first"
    layer(np.moveaxis(X, -1, 1) if first else X)
    kernel = np.zeros((kernel_size, kernel_size, 2, 1), "float32")
    kernel[kernel_size // 2, kernel_size // 2, :, 0] = 1, -1
    layer.set_weights([kernel])
    return layer


@pytest.mark.parametrize("kernel_size", [1, 3, 7])
def test_c29_mean_and_maximum_and_sigmoid(kernel_size):
    """C29: both branches, over the channels, and a sigmoid."""
    layer = of_mean_and_maximum(kernel_size)
    output, gate = layer(X, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(gate)[0, ..., 0], GATE, atol=1e-6)
    np.testing.assert_allclose(to_numpy(output)[0], OUTPUT, atol=1e-6)


def test_c29_channels_first():
    """C29: the same numbers, transposed."""
    layer = of_mean_and_maximum(data_format="channels_first")
    output, gate = layer(np.moveaxis(X, -1, 1), return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(gate)[0, 0], GATE, atol=1e-6)
    expected = np.moveaxis(np.array(OUTPUT), -1, 0)
    np.testing.assert_allclose(to_numpy(output)[0], expected, atol=1e-6)


def test_a_position_decides_within_the_square():
    layer = layers.SpatialAttention(kernel_size=3, use_bias=True)
    x = to_numpy(tensor(1, 7, 11, 5)).copy()
    _, before = layer(x, return_attention_scores=True)
    x[0, 3, 4] += 1
    _, after = layer(ops.convert_to_tensor(x), return_attention_scores=True)
    changed = np.abs(to_numpy(after) - to_numpy(before))[0, ..., 0] > 1e-6
    expected = np.zeros((7, 11), bool)
    expected[2:5, 3:6] = True
    np.testing.assert_array_equal(changed, expected)


def test_parameters():
    for bias in (False, True):
        layer = layers.SpatialAttention(5, use_bias=bias)
        layer(tensor(2, 3, 5, 8))
        assert layer.count_params() == 2 * 25 + bias


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="`kernel_size` must be a positive integer"):
        layers.SpatialAttention(0)
    with pytest.raises(ValueError, match="`kernel_size` must be odd"):
        layers.SpatialAttention(4)
