import numpy as np
import pytest
import tensorflow as tf

from applications.datasets.interactions import Catalogue
from applications.errors import UserError
from applications.recommendation.data import RecommendationData, cut, require_items
from tests.applications.recommendation.conftest import (
    CATALOGUE,
    ITEMS,
    TAKEN,
    USERS,
    circle,
)

LENGTH = 12


def batches(data, epoch):
    return list(data.train.epoch(tf.constant(epoch)).as_numpy_iterator())


def test_what_is_held_out(data):
    assert len(data.histories) == 60  # as limited
    users = [int(history.user) for history in data.interactions.log.histories]
    assert users == list(range(USERS))
    for split, place in (("validation", -2), ("test", -1)):
        tests = data.held_out(split)
        assert tests.users.tolist() == list(range(60))
        for user, before, target in zip(*tests, strict=True):
            own = circle(user)
            assert before.tolist() == own[:place]
            assert target == own[place]
            assert data.learned[user].tolist() == own[:-2]
    expected = np.bincount(np.concatenate([circle(u)[:-2] for u in range(60)]))
    assert data.counts.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["sasrec", "gru", "narm"])
def test_the_next_item_is_the_label(make_data, kind):
    data = make_data(kind)
    found = []
    for inputs, labels in batches(data, 0):
        assert set(inputs) == {"items"}
        assert inputs["items"].shape == labels.shape == (len(labels), LENGTH)
        for items, asked in zip(inputs["items"], labels, strict=True):
            count = (asked > 0).sum()
            assert (items[1:count] == asked[: count - 1]).all()
            found.append([items[0], *asked[:count]])
    assert sorted(found) == sorted(circle(user)[:-2] for user in range(60))


def test_what_is_held_out_is_never_trained_on(make_data):
    """No label and no input is one of the last two of its user."""
    for kind in ("sasrec", "bert4rec", "din"):
        data = make_data(kind)
        later = {user: set(circle(user)[-2:]) for user in range(60)}
        for items, user in zip(*data.rows, strict=True):
            assert not later[user] & set(items.tolist())


def test_bert4rec_fills_gaps(make_data):
    data = make_data("bert4rec")
    only_last = count = 0
    for inputs, labels in batches(data, 0):
        items = inputs["items"]
        assert ((items == ITEMS + 1) == (labels > 0)).all()
        whole = np.where(labels > 0, labels, items)
        for row, asked in zip(whole, labels, strict=True):
            assert row[row > 0].tolist() == circle_of(row)
            only_last += np.flatnonzero(asked).tolist() == [(row > 0).sum() - 1]
            count += 1
    assert count == 60
    assert 0.2 < only_last / count < 0.7  # a fifth and those with no other gap


def circle_of(row):
    """Neighbours from the first of a row on, as many as it has."""
    return [(row[0] - 1 + step) % ITEMS + 1 for step in range((row > 0).sum())]


@pytest.mark.parametrize("kind", ["sasrec", "bert4rec"])
def test_c58_sampled_items_are_none_that_was_taken(make_data, kind):
    """C58, in training: from the items a user did not take in training, by the key."""
    data = make_data(kind, "sampled")
    for inputs, labels in batches(data, 0):
        assert set(inputs) == {"items", "targets", "negatives", "log_q"}
        np.testing.assert_array_equal(inputs["targets"], labels)
        for items, asked, drawn in zip(
            inputs["items"], labels, inputs["negatives"], strict=True
        ):
            taken = (set(items.tolist()) | set(asked.tolist())) - {0, ITEMS + 1}
            there = drawn[drawn > 0].tolist()
            assert len(set(there)) == len(there) == ITEMS - (TAKEN - 2)
            assert not taken & set(there)
        np.testing.assert_allclose(inputs["log_q"], -np.log(ITEMS - (TAKEN - 2)))


def test_din_asks_one_target_of_a_history(make_data):
    data = make_data("din")
    assert data.train.examples == 120  # two cuts of each row
    seen = set()
    for inputs, labels in batches(data, 0):
        assert labels.shape[1] == 1
        for items, asked in zip(inputs["items"], labels[:, 0], strict=True):
            before = items[items > 0]
            assert asked == before[-1] % ITEMS + 1
            seen.add(len(before))
    assert {1, 6} <= seen <= set(range(1, 7))


def test_cuts_are_at_every_place():
    items = tf.constant([[1, 2, 3, 4]] * 300 + [[1, 2, 0, 0]] * 50)
    read, asked = (x.numpy() for x in cut(items, tf.constant([0, 1])))
    assert np.bincount(asked[:300, 0], minlength=5)[2:].min() > 70
    assert (asked[300:] == 2).all()
    assert ((read > 0).sum(axis=1) == asked[:, 0] - 1).all()


@pytest.mark.parametrize(
    ("kind", "loss"), [("sasrec", "sampled"), ("bert4rec", "full")]
)
def test_an_epoch_follows_from_seed_and_number(make_data, kind, loss):
    first, again = (batches(make_data(kind, loss), 3) for _ in range(2))
    other = batches(make_data(kind, loss), 4)
    for one, two in zip(first, again, strict=True):
        for name, values in one[0].items():
            np.testing.assert_array_equal(values, two[0][name])
    assert any((one[1] != two[1]).any() for one, two in zip(first, other, strict=True))


def test_a_log_with_nothing_to_learn_is_refused(data):
    data.learned = [np.array([1]), np.array([2])]
    with pytest.raises(UserError, match="has nothing to learn from: nobody took two"):
        data.rows  # noqa: B018


def test_other_items_are_refused(config):
    other = Catalogue(("", "7"), ("", "Seven"))
    with pytest.raises(UserError, match="20 new, such as '101'; 1 gone, such as '7'"):
        RecommendationData(config, other).histories  # noqa: B018
    titled = Catalogue(CATALOGUE.names, CATALOGUE.names)
    require_items("log", titled, CATALOGUE)  # titles may change
