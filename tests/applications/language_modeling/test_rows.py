import numpy as np
import pytest

from applications.errors import UserError
from applications.language_modeling.rows import TokenRows, whole_rows

STREAM = np.arange(1, 102)  # each token tells its place


@pytest.fixture
def rows():
    return TokenRows(STREAM, length=7, width=8, rows_per_batch=3, seed=5)


def epoch(rows, number):
    found = list(rows.epoch(number).as_numpy_iterator())
    return np.stack([ids for ids, _ in found]), np.stack([seed for _, seed in found])


def test_rows_follow_each_other_in_the_stream(rows):
    ids, _ = epoch(rows, 0)
    assert ids.shape == (rows.count * 3, 8) == (12, 8)
    assert (np.diff(ids, axis=1) == 1).all()
    starts = np.sort(ids[:, 0])
    # One of the 13 windows is left out of the last batch.
    assert set(np.diff(starts)) <= {7, 14}
    assert 1 <= starts[0] <= 14


def test_an_epoch_follows_from_seed_and_number(rows):
    first, seeds = epoch(rows, 3)
    again, same_seeds = epoch(
        TokenRows(STREAM, length=7, width=8, rows_per_batch=3, seed=5), 3
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(seeds, same_seeds)
    assert len({tuple(seed) for seed in seeds}) == len(seeds)
    others = [epoch(rows, number) for number in range(8)]
    offsets = {int(ids[:, 0].min()) % 7 for ids, _ in others}
    assert len(offsets) > 2
    assert not np.array_equal(others[0][0], others[1][0])
    assert not np.array_equal(others[0][1], others[1][1])


def test_a_short_stream_has_a_smaller_batch_or_none():
    rows = TokenRows(STREAM[:20], length=7, width=7, rows_per_batch=5)
    assert (rows.count, rows.rows_per_batch) == (1, 2)
    with pytest.raises(UserError, match=r"has 12 tokens, a row of data.length=7 needs"):
        TokenRows(STREAM[:12], length=7, width=7, rows_per_batch=5)


@pytest.mark.parametrize("width", [7, 8])
def test_whole_rows_leave_nothing_out(width):
    rows = whole_rows(STREAM, 7, width)
    predicted = rows[:, width - 7 :]
    kept = predicted[predicted != 0]
    np.testing.assert_array_equal(kept, STREAM[width - 7 :])
