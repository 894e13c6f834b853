import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import tensor, to_numpy

NEUTRAL = {"gamma": 1.0, "beta": 0.0, "moving_mean": 0.0, "moving_variance": 1 - 1e-3}


def neutral(layer):
    """Normalisations that change nothing."""
    for norm in (*layer.norms, layer.squeeze_norm):
        for weight in norm.weights:
            weight.assign(np.full(weight.shape, NEUTRAL[weight.name], "float32"))
    return layer


def test_equals_its_values_by_hand():
    """One position (1, 2), once and doubled; the unit holds the first sum, 3."""
    x = np.array([[[[1, 2]]]], "float32")
    layer = layers.SelectiveKernel(kernel_size=1, ratio=2, min_units=1)
    layer(x)
    neutral(layer)
    for factor, conv in enumerate(layer.convs, start=1):
        conv.kernel.assign(factor * np.eye(2)[None, None])
    layer.squeeze.kernel.assign([[1], [0]])
    layer.select.kernel.assign([[0, 0, 0, np.log(3) / 3]])
    output, shares = layer(x, return_attention_scores=True)
    expected = [[0.5, 0.5], [0.25, 0.75]]
    np.testing.assert_allclose(to_numpy(shares)[0, 0, 0], expected, atol=1e-6)
    # 1 / 2 + 2 / 2, and 2 / 4 + 4 * 3 / 4
    np.testing.assert_allclose(to_numpy(output)[0, 0, 0], [1.5, 3.5], atol=1e-5)


def test_kernels_reach_as_far_as_their_rate():
    layer = layers.SelectiveKernel(dilation_rates=(1, 3), min_units=1)
    x = np.zeros((1, 9, 9, 1), "float32")
    layer(x)
    neutral(layer)
    for conv in layer.convs:
        conv.kernel.assign(np.ones((3, 3, 1, 1)))
    layer.select.kernel.assign([[0, 0]])  # equal shares
    x[0, 4, 4] = 1
    expected = np.zeros((9, 9))
    for rate in (1, 3):
        expected[4 - rate : 5 + rate : rate, 4 - rate : 5 + rate : rate] += 0.5
    found = to_numpy(layer(ops.convert_to_tensor(x)))[0, ..., 0]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_groups_are_convolved_apart():
    layer = layers.SelectiveKernel(groups=2, min_units=1)
    x = to_numpy(tensor(1, 3, 3, 4)).copy()
    layer(x)
    layer.select.kernel.assign(np.zeros((1, 8)))  # or all channels would decide
    before = to_numpy(layer(x))
    x[..., 3] += 1
    changed = np.abs(to_numpy(layer(ops.convert_to_tensor(x))) - before).max((0, 1, 2))
    assert (changed[:2] == 0).all()
    assert (changed[2:] > 1e-4).all()


@pytest.mark.parametrize(("min_units", "units"), [(1, 4), (32, 32)])
def test_hidden_units(min_units, units):
    layer = layers.SelectiveKernel(min_units=min_units)
    layer(tensor(1, 2, 2, 64))
    assert layer.squeeze.units == units


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dilation_rates": (1,)}, "`dilation_rates` must be two numbers or more"),
        ({"dilation_rates": 2}, "`dilation_rates` must be two numbers or more"),
        ({"dilation_rates": (1, 0)}, "`dilation_rates` must be a positive integer"),
        ({"kernel_size": 0}, "`kernel_size` must be a positive integer"),
        ({"min_units": 0}, "`min_units` must be a positive integer"),
        ({"groups": 0}, "`groups` must be a positive integer"),
        ({"groups": 3}, "`groups` must divide the channels"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        layers.SelectiveKernel(**options)(tensor(1, 2, 2, 4))
