import numpy as np
import pytest

from applications.recommendation import baselines
from applications.recommendation.baselines import (
    Popularity,
    best_neighbours,
    item_neighbours,
)
from applications.recommendation.data import HeldOut

pytest.importorskip("scipy")

# 1 and 2 go together, and 3 and 4; 5 goes with all, 6 was never taken.
LEARNED = [
    np.array(items, "int32")
    for items in ([1, 2, 5], [2, 1], [3, 4, 5], [4, 3], [1, 2, 5], [5])
]


def cosine(first, second):
    sets = [{u for u, took in enumerate(LEARNED) if i in took} for i in (first, second)]
    return len(sets[0] & sets[1]) / np.sqrt(len(sets[0]) * len(sets[1]))


def test_popularity_is_the_same_for_all():
    found = Popularity(np.array([0, 3, 1]))([np.array([1]), np.array([], "int32")])
    assert found.tolist() == [[0, 3, 1], [0, 3, 1]]


def test_scores_are_sums_of_cosines():
    (score,) = item_neighbours(LEARNED, 6, [10])
    found = score([np.array([1, 4]), np.array([6])])
    expected = [0] + [cosine(1, i) * (i != 1) + cosine(4, i) * (i != 4)
                      for i in range(1, 6)] + [0]  # fmt: skip
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    assert not found[1].any()


@pytest.mark.parametrize("at_once", [1, 2, 512])
def test_only_the_nearest_count(monkeypatch, at_once):
    monkeypatch.setattr(baselines, "_ITEMS_AT_ONCE", at_once)
    one, two = item_neighbours(LEARNED, 6, [1, 2])
    (found,) = one([np.array([1])])
    assert np.flatnonzero(found).tolist() == [2]
    (order,) = two([np.array([1])])
    assert np.flatnonzero(order).tolist() == [2, 5]


def test_validation_chooses_how_many():
    """Who took 1 goes on to 5, which a single neighbour never shows."""
    tests = HeldOut(np.array([0]), [np.array([1])], np.array([5], "int32"))
    assert best_neighbours(LEARNED, 6, tests, [1, 2], 2).neighbours == 2
    tests = tests._replace(targets=np.array([2], "int32"))
    assert best_neighbours(LEARNED, 6, tests, [1, 2], 2).neighbours == 1
