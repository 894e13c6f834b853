import numpy as np
import pytest

from applications.datasets.interactions import (
    Interaction,
    counts,
    held_out,
    sequences,
    training_items,
)


def rows(*events):
    return [Interaction(str(user), str(item), time) for user, time, item in events]


def by_name(log):
    """The names of what each user took, in order."""
    return {
        history.user: [log.catalogue.names[item] for item in history.items]
        for history in log.histories
    }


def test_c59_ties_keep_the_order_of_the_file():
    """C59: equal times in the order of the rows, an unsorted log in that of time."""
    events = rows(("u", 10, 7), ("u", 10, 3), ("u", 5, 9))
    log = sequences(events)
    assert by_name(log) == {"u": ["9", "7", "3"]}
    (history,) = log.histories
    assert history.times.tolist() == [5, 10, 10]
    numbers = {name: i for i, name in enumerate(log.catalogue.names)}
    before, target = held_out(history.items, "test")
    assert target == numbers["3"]
    assert before.tolist() == [numbers["9"], numbers["7"]]
    assert held_out(history.items, "validation")[1] == numbers["7"]


def test_c59_other_users_between_change_nothing():
    """C59: the same on each run, and however the users are shuffled."""
    own = {user: rows((user, 10, 7), (user, 10, 3), (user, 5, 9)) for user in "abc"}
    expected = {user: ["9", "7", "3"] for user in "abc"}
    for order in ("abc", "cba", "bca"):
        assert by_name(sequences([row for u in order for row in own[u]])) == expected
        mixed = [row for three in zip(*(own[u] for u in order), strict=True)
                 for row in three]  # fmt: skip
        assert by_name(sequences(mixed)) == expected


def test_items_are_numbered_by_their_names():
    log = sequences(rows((1, 1, "10"), (1, 2, "9"), (10, 1, "b"), (9, 1, "a")))
    assert log.catalogue.names == ("", "9", "10", "a", "b")
    assert log.catalogue.num_items == 4
    assert [history.user for history in log.histories] == ["1", "9", "10"]
    assert [history.items.tolist() for history in log.histories] == [[2, 1], [3], [4]]


def test_the_earliest_of_repeated_rows_counts():
    log = sequences(
        rows((1, 9, "a"), (1, 5, "b"), (1, 3, "a"), (1, 3, "a"), (2, 1, "a"))
    )
    assert by_name(log) == {"1": ["a", "b"], "2": ["a"]}
    assert log.histories[0].times.tolist() == [3, 5]
    assert log.repeated == 2


def test_titles_are_those_of_the_log_or_the_names():
    events = [
        Interaction("u", "1", 1.5, ""),
        Interaction("u", "2", 2.5, "Two"),
        Interaction("v", "1", 3, "One"),
    ]
    log = sequences(events)
    assert log.catalogue.titles == ("", "One", "Two")
    assert log.histories[0].times.tolist() == [1, 2]
    assert sequences(events[:1]).catalogue.titles == ("", "1")


@pytest.mark.parametrize("split", ["validation", "test"])
def test_leave_last_one_out(split):
    items = np.array([4, 8, 1, 5])
    before, target = held_out(items, split)
    end = {"validation": 2, "test": 3}[split]
    assert before.tolist() == items[:end].tolist()
    assert target == items[end]
    assert training_items(items).tolist() == [4, 8]


def test_those_with_fewer_than_three_items_are_learned_from_alone():
    for items in (np.array([4]), np.array([4, 8])):
        assert held_out(items, "test") is None
        assert training_items(items).tolist() == items.tolist()
    assert counts([np.arange(5), np.arange(3), np.arange(2)]) == {
        "train": 3 + 1 + 2,
        "validation": 2,
        "test": 2,
    }
