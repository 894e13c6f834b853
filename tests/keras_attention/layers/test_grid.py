"""Rows and columns of inputs with and without a given grid."""

import pytest

from keras_attention.layers._grid import as_grid, grid_of
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
