"""The layer that adds a learned table."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.ops import positions
from tests.backend import (
    mask_of,
    of_variables,
    tensor,
    to_numpy,
    value_and_gradients,
    with_mask,
)


def test_adds_its_rows():
    x, layer = tensor(2, 5, 7), layers.PositionEmbedding(8)
    found = to_numpy(layer(x))
    (table,) = layer.get_weights()
    assert table.shape == (8, 7)
    np.testing.assert_allclose(found, to_numpy(x) + table[:5], atol=1e-6)


def test_only_the_rows_in_use_are_trained():
    x, layer = tensor(2, 5, 7), layers.PositionEmbedding(8)
    layer(x)
    function, variables = of_variables(layer, layer)
    _, (gradient, _) = value_and_gradients(function, *variables, x)
    assert (gradient[:5] != 0).all()
    assert (gradient[5:] == 0).all()


def test_start_index_continues_the_sequence():
    layer, x = layers.PositionEmbedding(8), tensor(2, 5, 6)
    whole = to_numpy(layer(x))
    for start in (3, ops.convert_to_tensor(3, "int32")):
        rest = to_numpy(layer(x[:, 3:], start_index=start))
        np.testing.assert_allclose(rest, whole[:, 3:], atol=1e-6)


@pytest.mark.parametrize(("size", "grid"), [(12, None), ((3, 4), (2, 3))])
def test_a_longer_layer_takes_over_an_interpolated_table(size, grid):
    short, longer = layers.PositionEmbedding(6), layers.PositionEmbedding(12)
    for layer, length in ((short, 6), (longer, 12)):
        layer(tensor(1, length, 5))
    (table,) = short.get_weights()
    longer.set_weights([positions.resized(table, size, grid)])
    (found,) = longer.get_weights()
    np.testing.assert_allclose(found[[0, -1]], table[[0, -1]], rtol=1e-5)


def test_mask_is_carried():
    x = with_mask(tensor(1, 3, 4), np.array([[True, True, False]]))
    assert mask_of(layers.PositionEmbedding(3)(x)).tolist() == [[True, True, False]]


@pytest.mark.parametrize(("start", "length"), [(0, 5), (3, 2), (-1, 2)])
def test_positions_outside_the_table_are_refused(start, length):
    expected = f"`max_sequence_length`.*start_index={start}, length={length}"
    with pytest.raises(ValueError, match=expected):
        layers.PositionEmbedding(4)(tensor(1, length, 2), start_index=start)


def test_the_last_position_is_within_the_table():
    layer, x = layers.PositionEmbedding(4), tensor(1, 2, 3)
    found = to_numpy(layer(x, start_index=2))
    np.testing.assert_allclose(found, to_numpy(x) + layer.get_weights()[0][2:])


def test_length_is_positive():
    with pytest.raises(ValueError, match="`max_sequence_length` must be a positive"):
        layers.PositionEmbedding(0)
