import numpy as np
import pytest
import tensorflow as tf

from applications.recommendation.negatives import negatives, sorted_ragged


def drawn(histories, num_items, count, seed=0):
    taken = sorted_ragged([np.array(items) for items in histories])
    return negatives(taken, num_items, count, tf.constant([seed, 1])).items.numpy()


def test_c58_negatives_are_what_is_left():
    """C58: never padding, never what was taken or is held out, never twice."""
    history = [3, 1, 2, 4, 5]  # trained on three, one for validation, one for test
    for seed in range(20):
        assert drawn([history], 6, 1, seed).tolist() == [[6]]


def test_c58_fewer_where_fewer_are_left():
    """C58: what is left, once each, and none for the rest; no endless search."""
    (row,) = drawn([[1, 2, 3, 4, 5]], 6, 5)
    assert sorted(row.tolist()) == [0, 0, 0, 0, 6]
    assert drawn([[1, 2, 3]], 3, 2).tolist() == [[0, 0]]


def test_rows_are_apart():
    histories = [[2, 9, 4], [], list(range(1, 21)), [20]]
    for seed in range(10):
        for history, row in zip(histories, drawn(histories, 20, 12, seed), strict=True):
            found = row[row > 0].tolist()
            assert len(found) == min(12, 20 - len(history))
            assert len(set(found)) == len(found)
            assert not set(found) & set(history)
            assert all(1 <= item <= 20 for item in found)


def test_each_item_that_is_left_is_as_likely_as_any_other():
    count = 4000
    found = drawn([[2, 5]] * count, 9, 3)
    share = np.bincount(found.ravel(), minlength=10) / count
    assert share[[0, 2, 5]].tolist() == [0, 0, 0]
    # Of seven three are drawn; the deviation of a share of 4,000 is 0.008.
    np.testing.assert_allclose(share[[1, 3, 4, 6, 7, 8, 9]], 3 / 7, atol=0.04)


def test_the_same_key_draws_the_same():
    first = drawn([[1, 7]], 1000, 20, seed=3)
    np.testing.assert_array_equal(first, drawn([[1, 7]], 1000, 20, seed=3))
    assert (first != drawn([[1, 7]], 1000, 20, seed=4)).any()


def test_the_chance_of_one_draw():
    taken = sorted_ragged([np.array([1]), np.array([1, 2, 3])])
    found = negatives(taken, 5, 2, tf.constant([0, 0]))
    expected = -np.log([[4.0, 4.0], [2.0, 2.0]])
    np.testing.assert_allclose(found.log_chance, expected, rtol=1e-6)


@pytest.mark.parametrize("num_items", [1_000_000, 50_000_000])
def test_large_catalogues(num_items):
    (row,) = drawn([[1, num_items]], num_items, 2048)
    assert len(set(row.tolist())) == 2048
    assert row.min() > 1
    assert num_items * 0.99 < row.max() < num_items
