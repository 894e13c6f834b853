"""Kendall's tau against counting pairs, and against scipy."""

import numpy as np
import pytest

from keras_attention.interpretation import rank_agreement


def test_same_and_opposite_orders():
    first = [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]
    second = [[1.0, 2.0, 30.0], [3.0, 2.0, -1.0]]
    np.testing.assert_allclose(rank_agreement(first, second), [1, -1])


@pytest.mark.parametrize("levels", [3, 50])
def test_ties_count_as_scipy_counts_them(levels):
    stats = pytest.importorskip("scipy.stats")
    numbers = np.random.default_rng(0).integers(0, levels, (2, 7, 11))
    expected = [stats.kendalltau(a, b).statistic for a, b in zip(*numbers, strict=True)]
    np.testing.assert_allclose(rank_agreement(*numbers), expected, atol=1e-12)


def test_padding_does_not_count():
    first, second = [[1.0, 2.0, 9.0, 9.0]], [[1.0, 2.0, -9.0, 0.0]]
    assert rank_agreement(first, second, [[1, 1, 0, 0]]) == 1


def test_nothing_to_rank_is_nan():
    first = [[1.0, 2.0], [1.0, 1.0], [3.0, 4.0]]
    second = [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
    found = rank_agreement(first, second, [[1, 0], [1, 1], [1, 1]])
    np.testing.assert_array_equal(found, [np.nan, np.nan, 1])


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="one shape"):
        rank_agreement([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
