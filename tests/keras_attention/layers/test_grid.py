"""Rows and columns of patches, and of inputs with and without a given grid."""

import pytest

from keras_attention.layers._grid import as_grid, as_pair, grid_of, patch_grid
from tests.backend import tensor


def test_grid_of_the_axes():
    assert grid_of(tensor(2, 3, 5, 7), None, features=1) == (3, 5)
    assert grid_of(tensor(2, 3, 5, 7, 11), None, features=2) == (3, 5)


def test_a_given_grid_stands_for_one_axis():
    assert grid_of(tensor(2, 15, 7), (3, 5), features=1) == (3, 5)
    assert grid_of(tensor(2, 15, 7, 11), (3, 5), features=2) == (3, 5)


def test_a_grid_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"each place of the `grid`.*length=14"):
        grid_of(tensor(2, 14, 7), (3, 5), features=1)
    with pytest.raises(ValueError, match=r"\(rows, columns\) between batch and"):
        grid_of(tensor(2, 15, 7), None, features=1)


def test_a_grid_is_two_positive_integers():
    assert as_grid([3, 5]) == (3, 5)
    assert as_grid(None) is None
    with pytest.raises(ValueError, match=r"`grid` must be \(rows, columns\)"):
        as_grid(7)
    with pytest.raises(ValueError, match="`grid` must be a positive integer"):
        as_grid((3, 0))


def test_a_pair_is_one_integer_or_two():
    assert as_pair("size", 3) == (3, 3)
    assert as_pair("size", [3, 5]) == (3, 5)
    for wrong in ((3, 5, 7), "35", 3.0, None):
        with pytest.raises(ValueError, match="`size` must be an integer or two"):
            as_pair("size", wrong)
    for wrong in (0, (3, -1), (3, 5.0)):
        with pytest.raises(ValueError, match="`size` must be a positive integer"):
            as_pair("size", wrong)


def test_patches_of_an_image():
    assert patch_grid((6, 20), (3, 4)) == (2, 5)
    assert patch_grid((None, 20), (3, 4)) == (None, 5)
    with pytest.raises(ValueError, match=r"=\(20, 6\), patch_size=\(3, 4\)"):
        patch_grid((20, 6), (3, 4))
    with pytest.raises(ValueError, match=r"image_size=\(None, 6\)"):
        patch_grid((None, 6), (3, 4))
