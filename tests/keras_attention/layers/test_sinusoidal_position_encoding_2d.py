"""The layer that adds waves of rows and of columns."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import mask_of, tensor, to_numpy, with_mask
from tests.keras_attention.ops.test_positions import by_hand


def test_adds_rows_to_half_and_columns_to_half():
    x = tensor(2, 3, 5, 12)
    found = to_numpy(layers.SinusoidalPositionEncoding2D(50.0)(x)) - to_numpy(x)
    for row, column in np.ndindex(3, 5):
        rows, columns = by_hand(np.array([row, column]), 6, 50.0)
        np.testing.assert_allclose(found[0, row, column, :6], rows, atol=1e-6)
        np.testing.assert_allclose(found[1, row, column, 6:], columns, atol=1e-6)


def test_flattened_inputs_need_the_grid():
    x = tensor(2, 3, 5, 6)
    expected = to_numpy(layers.SinusoidalPositionEncoding2D()(x))
    flat = ops.reshape(x, (2, 15, 6))
    found = to_numpy(layers.SinusoidalPositionEncoding2D(grid=(3, 5))(flat))
    np.testing.assert_array_equal(np.reshape(found, expected.shape), expected)
    with pytest.raises(ValueError, match=r"axes \(rows, columns\) between"):
        layers.SinusoidalPositionEncoding2D()(flat)


def test_any_resolution():
    layer = layers.SinusoidalPositionEncoding2D()
    small = to_numpy(layer(np.zeros((1, 2, 3, 8), "float32")))
    large = to_numpy(layer(np.zeros((1, 4, 5, 8), "float32")))
    np.testing.assert_allclose(large[:, :2, :3], small, atol=1e-6)
    assert layer(keras.Input((None, None, 8))).shape == (None, None, None, 8)


def test_c31_odd_halves():
    """C31: a half of odd width ends with a sine; an odd width has no halves."""
    layer = layers.SinusoidalPositionEncoding2D()
    found = to_numpy(layer(np.zeros((1, 3, 3, 10), "float32")))[0]
    np.testing.assert_allclose(found[2, 0, :5], by_hand(np.array([2]), 5)[0], atol=1e-6)
    np.testing.assert_allclose(found[0, 2, 5:], by_hand(np.array([2]), 5)[0], atol=1e-6)
    with pytest.raises(ValueError, match="size must be even"):
        layer(np.zeros((1, 3, 3, 5), "float32"))


def test_c32_half_precision_keeps_positions_apart():
    """C32: bfloat16 rows would be the same from 257 on."""
    layer = layers.SinusoidalPositionEncoding2D(dtype="bfloat16")
    found = to_numpy(layer(np.zeros((1, 600, 1, 8), "float32")))[0, :, 0, :4]
    assert np.abs(found - by_hand(np.arange(600), 4)).max() <= 1e-2
    assert (found[256] != found[257]).any()


def test_mask_is_carried():
    x = with_mask(tensor(1, 2, 2, 4), np.array([[[True, True], [True, False]]]))
    found = mask_of(layers.SinusoidalPositionEncoding2D()(x))
    assert found.tolist() == [[[True, True], [True, False]]]
