"""The layer that turns half of the pairs with the row, half with the column."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from tests.backend import tensor, to_numpy
from tests.keras_attention.ops.test_positions import turned_by_hand


@pytest.mark.parametrize("interleaved", [False, True])
def test_turns_by_row_and_by_column(interleaved):
    x = tensor(2, 3, 5, 7, 12)
    found = to_numpy(layers.RotaryEmbedding2D(50.0, interleaved=interleaved)(x))
    x = to_numpy(x)
    # The pairs of the first half tell the row: their first features, then their second.
    if interleaved:
        of_rows = np.arange(6)
    else:
        of_rows = np.array([0, 1, 2, 6, 7, 8])
    of_columns = np.setdiff1d(np.arange(12), of_rows)
    for batch, head in np.ndindex(2, 7):
        for column in range(5):
            expected = turned_by_hand(
                x[batch, :, column, head][:, of_rows], np.arange(3), 50.0, interleaved
            )
            exact = found[batch, :, column, head][:, of_rows]
            np.testing.assert_allclose(exact, expected, atol=2e-6)
        for row in range(3):
            expected = turned_by_hand(
                x[batch, row, :, head][:, of_columns], np.arange(5), 50.0, interleaved
            )
            exact = found[batch, row, :, head][:, of_columns]
            np.testing.assert_allclose(exact, expected, atol=2e-6)


def test_flattened_inputs_need_the_grid():
    x = tensor(2, 3, 5, 7, 8)
    expected = to_numpy(layers.RotaryEmbedding2D()(x))
    flat = np.reshape(to_numpy(x), (2, 15, 7, 8))
    found = to_numpy(layers.RotaryEmbedding2D(grid=(3, 5))(flat))
    np.testing.assert_array_equal(np.reshape(found, expected.shape), expected)
    with pytest.raises(ValueError, match=r"axes \(rows, columns\) between"):
        layers.RotaryEmbedding2D()(flat)


def test_attention_over_patches_sees_distances_in_both_axes():
    """A shift of all places by a row and a column changes nothing."""
    x = np.random.default_rng(0).normal(size=(1, 2, 3, 8)).astype("float32")
    wide = np.zeros((1, 4, 5, 8), "float32")
    places = np.zeros((1, 4, 5), bool)
    wide[:, 1:3, 2:5], places[:, 1:3, 2:5] = x, True
    small = layers.MultiHeadAttention(
        2, 8, rotary=layers.RotaryEmbedding2D(grid=(2, 3))
    )
    large = layers.MultiHeadAttention(
        2, 8, rotary=layers.RotaryEmbedding2D(grid=(4, 5))
    )
    expected = to_numpy(small(x, x))
    large(wide, wide)
    large.set_weights(small.get_weights())
    found = to_numpy(large(wide, wide, query_mask=places, value_mask=places))
    np.testing.assert_allclose(found[:, 1:3, 2:5], expected, rtol=1e-5, atol=1e-5)


def test_a_grid_is_not_decoded_step_by_step():
    with pytest.raises(ValueError, match=r"`start_index` must be 0.*start_index=2"):
        layers.RotaryEmbedding2D(grid=(1, 1))(tensor(1, 1, 1, 4), start_index=2)


def test_head_size_is_a_multiple_of_four():
    with pytest.raises(ValueError, match=r"must be a multiple of 4 .*size=6"):
        layers.RotaryEmbedding2D()(tensor(1, 2, 3, 1, 6))


def test_a_start_known_at_run_time_only_is_refused():
    start = keras.ops.convert_to_tensor(3)
    with pytest.raises(ValueError, match="`start_index` must be 0 on a grid"):
        layers.RotaryEmbedding2D(grid=(2, 3))(tensor(1, 6, 3, 8), start)


def test_prefix_tokens_are_not_turned_and_move_no_place():
    x = tensor(2, 2 + 15, 7, 8)
    options = {"grid": (3, 5), "interleaved": True}
    found = to_numpy(layers.RotaryEmbedding2D(num_prefix_tokens=2, **options)(x))
    places = to_numpy(layers.RotaryEmbedding2D(**options)(x[:, 2:]))
    np.testing.assert_array_equal(found[:, :2], to_numpy(x)[:, :2])
    np.testing.assert_array_equal(found[:, 2:], places)
    with pytest.raises(ValueError, match=r"each place of the `grid`.*length=14"):
        layers.RotaryEmbedding2D(num_prefix_tokens=3, **options)(x)


def test_prefix_tokens_need_a_grid():
    with pytest.raises(ValueError, match="`num_prefix_tokens` needs a `grid`"):
        layers.RotaryEmbedding2D(num_prefix_tokens=1)
    with pytest.raises(ValueError, match="`num_prefix_tokens` must be a positive"):
        layers.RotaryEmbedding2D(grid=(1, 1), num_prefix_tokens=-1)
