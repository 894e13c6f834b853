import numpy as np

from applications.recommendation.windows import rows, windows


def test_every_item_is_asked_for_once():
    for count in range(2, 23):
        items = np.arange(1, count + 1)
        pieces = list(windows(items, 5, 1))
        labels = [item for piece in pieces for item in piece[1:].tolist()]
        assert sorted(labels) == items[1:].tolist()
        assert all(2 <= len(piece) <= 6 for piece in pieces)
        assert len(pieces[0]) == min(count, 6)  # the newest is whole


def test_without_overlap_every_item_is_read_once():
    for count in range(1, 17):
        items = np.arange(1, count + 1)
        pieces = list(windows(items, 5, 0))
        assert sorted(np.concatenate(pieces).tolist()) == items.tolist()


def test_rows_are_aligned_to_the_left_and_know_their_user():
    found = rows([np.array([1, 2, 3, 4]), np.array([5]), np.array([6, 7])], 2, 1)
    assert found.items.tolist() == [[2, 3, 4], [1, 2, 0], [6, 7, 0]]
    assert found.users.tolist() == [0, 0, 2]
    assert found.items.dtype == np.int32
    assert rows([np.array([5])], 2, 1).items.shape == (0, 3)
