import numpy as np
import pytest

from keras_attention import layers
from keras_attention.layers.efficient_channel_attention import adaptive_kernel_size
from tests.backend import tensor, to_numpy


def test_equals_its_values_by_hand():
    """Each channel sees the one before less the one after, 0 beyond the ends."""
    x = np.array([[[[2, 4, 6]], [[0, 0, 0]]]], "float32")  # means 1, 2, 3
    layer = layers.EfficientChannelAttention(kernel_size=3)
    layer(x)
    layer.set_weights([np.array([1, 0, -1], "float32").reshape(3, 1, 1)])
    output, gate = layer(x, return_attention_scores=True)
    expected = np.array([0.119203, 0.119203, 0.880797])  # of -2, -2 and 2
    np.testing.assert_allclose(to_numpy(gate)[0, 0, 0], expected, atol=1e-6)
    np.testing.assert_allclose(to_numpy(output), x * expected, atol=1e-5)


@pytest.mark.parametrize(
    ("channels", "size"),
    [(1, 1), (4, 1), (8, 3), (64, 3), (128, 5), (256, 5), (1024, 5), (2048, 7)],
)
def test_the_size_follows_the_channels(channels, size):
    assert adaptive_kernel_size(channels) == size
    if channels < 1000:
        layer = layers.EfficientChannelAttention()
        layer(tensor(1, 2, 2, channels))
        assert layer.count_params() == size


def test_the_size_follows_gamma_and_b():
    assert adaptive_kernel_size(64, gamma=1, b=1) == 7
    assert adaptive_kernel_size(64, gamma=2, b=4) == 5
    layer = layers.EfficientChannelAttention(gamma=1)
    layer(tensor(1, 2, 2, 64))
    assert layer.count_params() == 7


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel_size": 4}, "`kernel_size` must be odd"),
        ({"kernel_size": 0}, "`kernel_size` must be a positive integer"),
        ({"gamma": 0}, "`gamma` must be above 0"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        layers.EfficientChannelAttention(**options)
