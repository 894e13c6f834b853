"""What gates are made of: means, maxima and what is 0."""

import numpy as np
import pytest
from keras import ops

from keras_attention.layers import _gate
from tests.backend import to_numpy, value_and_gradients

# One map of 2 x 2 positions and two channels, and one that is hidden.
X = np.array([[[[1, -5], [3, -7]], [[8, -9], [0, 0]]]] * 2, "float32")
MASK = np.array([[[1, 1], [0, 0]], [[0, 0], [0, 0]]], bool)
SEEN = np.where(MASK[..., None], X, 0)


@pytest.mark.parametrize(("channels", "ratio", "units"), [(32, 4, 8), (7, 2, 3)])
def test_hidden_units(channels, ratio, units):
    assert _gate.hidden_units(channels, ratio) == units


def test_a_ratio_above_the_channels_leaves_one_unit():
    assert _gate.hidden_units(3, 16) == 1


def test_means_count_what_is_seen():
    found = to_numpy(_gate.mean(ops.convert_to_tensor(SEEN), MASK, (1, 2)))
    np.testing.assert_allclose(found, [[2, -6], [0, 0]])
    found = to_numpy(_gate.mean(ops.convert_to_tensor(SEEN), MASK, (1,)))
    np.testing.assert_allclose(found, [[[1, -5], [3, -7]], [[0, 0], [0, 0]]])
    found = to_numpy(_gate.mean(ops.convert_to_tensor(X), None, (1, 2)))
    np.testing.assert_allclose(found, [[3, -5.25]] * 2)


def test_maxima_are_of_what_is_seen():
    """Hidden positions are 0, which is more than -5."""
    found = to_numpy(_gate.maximum(ops.convert_to_tensor(SEEN), MASK, (1, 2)))
    np.testing.assert_allclose(found, [[3, -5], [0, 0]])
    found = to_numpy(_gate.maximum(ops.convert_to_tensor(X), None, (1, 2)))
    np.testing.assert_allclose(found, [[8, 0]] * 2)


def test_nothing_seen_has_no_gradient():
    """Of maxima, which know what is hidden by more than its 0."""
    _, (gradient,) = value_and_gradients(
        lambda x: _gate.maximum(x, ops.convert_to_tensor(MASK), (1, 2)),
        ops.convert_to_tensor(SEEN),
    )
    np.testing.assert_array_equal(gradient[0] != 0, [[[0, 1], [1, 0]], [[0, 0]] * 2])
    assert (gradient[1] == 0).all()


def test_means_of_half_precision_do_not_overflow():
    x = ops.full((1, 64, 64, 1), 1000.0, "float16")
    mask = ops.ones((1, 64, 64), "bool")
    for given in (None, mask):
        found = _gate.mean(x, given, (1, 2))
        assert "float16" in str(found.dtype)
        np.testing.assert_allclose(to_numpy(found), [[1000]])


def test_what_weighs_only_hidden_positions_is_zero():
    gate = ops.ones((2, 1, 1, 2))
    found = to_numpy(_gate.zero_unseen(gate, ops.convert_to_tensor(MASK)))
    np.testing.assert_array_equal(found[:, 0, 0], [[1, 1], [0, 0]])
    rows = to_numpy(_gate.zero_unseen(ops.ones((2, 2, 1, 2)), MASK))
    np.testing.assert_array_equal(rows[..., 0, 0], [[1, 0], [0, 0]])
    whole = to_numpy(_gate.zero_unseen(ops.ones((2, 2, 2, 1)), MASK))
    np.testing.assert_array_equal(whole[..., 0], MASK)
    assert _gate.zero_unseen(gate, None) is gate


def test_spread():
    values = ops.convert_to_tensor(np.arange(6.0).reshape(2, 3))
    assert tuple(_gate.spread(values, 2).shape) == (2, 1, 1, 3)
    np.testing.assert_array_equal(to_numpy(_gate.spread(values, 1))[:, 0], values)


def test_one_masked_channel_is_normalised():
    """Keras makes scalars of its moments, which PyTorch and JAX cannot take."""
    x = ops.convert_to_tensor(np.array([1.0, 3, 90, 90], "float32").reshape(1, 2, 2, 1))
    mask = ops.convert_to_tensor(np.array([[[1, 1], [0, 0]]], bool))
    norm = _gate.BatchNormalization(momentum=0.0, epsilon=0.0)
    found = to_numpy(norm(x, training=True, mask=mask))
    np.testing.assert_allclose(found[0, 0, :, 0], [-1, 1], atol=1e-5)
    np.testing.assert_allclose(to_numpy(norm.moving_mean), [2], atol=1e-5)
    np.testing.assert_allclose(to_numpy(norm.moving_variance), [1], atol=1e-5)
