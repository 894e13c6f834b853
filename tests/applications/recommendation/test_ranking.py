import numpy as np
import pytest

from applications.recommendation import scorer
from applications.recommendation.data import HeldOut
from applications.recommendation.ranking import (
    full_ranks,
    ranking,
    sampled_candidates,
    taken,
)

# Five items; each user has taken two and takes a third.
TESTS = HeldOut(
    np.array([0, 1, 2]),
    [np.array([1, 2]), np.array([5, 4]), np.array([3, 1])],
    np.array([3, 1, 5], "int32"),
)
SCORES = np.array(
    [[9, 8, 7, 3, 4, 2], [9, 1, 2, 3, 8, 7], [9, 1, 5, 1, 5, 5]], "float32"
)


def score(histories):
    """The scores of these users by what they took first."""
    return np.stack([SCORES[[1, 5, 3].index(items[0])] for items in histories])


@pytest.fixture(params=[1, 2, 128])
def at_once(request, monkeypatch):
    monkeypatch.setattr(scorer, "USERS_AT_ONCE", request.param)


@pytest.mark.usefixtures("at_once")
def test_full_ranking_leaves_out_what_was_taken():
    ranks = full_ranks(score, TESTS)
    # Of 3, 4, 5 (scores 3, 4, 2); of 1, 2, 3 (1, 2, 3); of 2, 4, 5, which all tie.
    assert ranks.average.tolist() == [2, 3, 2]


@pytest.mark.usefixtures("at_once")
def test_both_protocols_and_lists():
    candidates = np.array([[3, 5, 0], [1, 2, 3], [5, 2, 4]])
    found = ranking(score, TESTS, candidates, k=2)
    assert found.full.average.tolist() == [2, 3, 2]
    assert found.sampled.average.tolist() == [1, 3, 2]
    assert found.recommended.tolist() == [[4, 3], [3, 2], [2, 4]]


def test_c58_lists_hold_neither_padding_nor_what_was_taken():
    """C58: who took 1 to 4 of six is recommended 5 and 6, and then nothing."""
    tests = HeldOut(np.array([0]), [np.array([1, 2, 3, 4])], np.array([5], "int32"))
    scores = np.arange(7, 0, -1, dtype="float32")[None]
    found = ranking(lambda _: scores, tests, np.array([[5, 6]]), k=4)
    assert found.recommended.tolist() == [[5, 6, 0, 0]]


def test_c58_sampled_candidates_are_never_taken_not_even_later():
    """C58: user 0 of six items took five, one is left whatever the seed."""
    histories = [np.array([1, 2, 3, 4, 5]), np.array([6, 2, 1])]
    tests = HeldOut(
        np.array([0, 1]), [items[:-1] for items in histories], np.array([5, 1], "int32")
    )
    for seed in range(4):
        found = sampled_candidates(tests, histories, 6, 2, seed)
        assert found[:, 0].tolist() == [5, 1]
        assert sorted(found[0, 1:].tolist()) == [0, 6]
        assert set(found[1, 1:]) < {3, 4, 5}
    again = sampled_candidates(tests, histories, 6, 2, 3)
    np.testing.assert_array_equal(found, again)


def test_taken():
    found = taken([np.array([2]), np.array([], "int32")], 4)
    assert found.tolist() == [[True, False, True, False], [True] + [False] * 3]
