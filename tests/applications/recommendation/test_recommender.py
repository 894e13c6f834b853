from typing import get_args

import numpy as np
import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.recommendation.presets import Kind
from applications.recommendation.recommender import Recommender
from applications.recommendation.scorer import padded
from tests.applications.recommendation.conftest import CATALOGUE, ITEMS


@pytest.fixture
def make(make_model, counts):
    def recommender(kind="sasrec", top_k=4):
        return Recommender(make_model(kind), CATALOGUE, counts, top_k)

    return recommender


def answered(recommender, *histories):
    items = padded([np.array(items, "int32") for items in histories])
    return recommender.answer(tf.constant(items))["items"].numpy()


@pytest.mark.parametrize("kind", get_args(Kind))
def test_c58_never_padding_and_never_what_was_taken(make, kind):
    """C58: for histories of any length, longer than what is read too."""
    recommender = make(kind)
    histories = [list(range(1, 17)), [3], [20, 1, 7]]
    found = answered(recommender, *histories)
    assert found.shape == (3, 4)
    assert found.min() > 0
    for history, row in zip(histories, found, strict=True):
        assert len(set(row)) == 4
        assert not set(history) & set(row)
    assert set(found[0]) == {17, 18, 19, 20}


def test_c58_where_little_is_left_there_is_less(make):
    """C58: 0 and minus infinity stand for nothing; a line is shorter."""
    recommender = make(top_k=4)
    history = np.arange(1, 19, dtype="int32")
    found = recommender.answer(tf.constant(history[None]))
    assert sorted(found["items"][0].numpy()[:2].tolist()) == [19, 20]
    assert found["items"][0].numpy()[2:].tolist() == [0, 0]
    assert (found["scores"][0].numpy()[2:] == -np.inf).all()
    assert recommender.describe(history).count("Film") == 2


def test_an_empty_history_gets_what_is_popular(make, counts):
    recommender = make()
    expected = [7, 8, 9, 10]  # of counts 20, 19, 18, 17
    for items in (np.zeros((1, 0)), np.zeros((1, 3)), np.array([[-3, ITEMS + 1]])):
        found = recommender.answer(tf.constant(items, tf.int32))
        assert found["items"].numpy().tolist() == [expected]
        assert found["scores"].numpy().tolist() == [[20, 19, 18, 17]]
    together = answered(recommender, [], [7])
    assert together[0].tolist() == expected
    assert 7 not in together[1]


def test_what_is_no_item_is_left_out(make):
    recommender = make()
    alone = answered(recommender, [5, 6])
    np.testing.assert_array_equal(answered(recommender, [5, 99, 0, 6, -1]), alone)


def test_padding_changes_nothing(make):
    recommender = make("bert4rec")
    rows = tf.constant([[3, 9, 0, 0], [0, 0, 3, 9], [3, 0, 0, 9]])
    found = recommender.answer(rows)["items"].numpy()
    np.testing.assert_array_equal(found, found[[0, 0, 0]])


def test_names_and_titles(make):
    recommender = make()
    named = recommender.named(tf.constant([["103", "", "none such"], ["", "", ""]]))
    expected = answered(recommender, [3], [])
    for row, names, titles in zip(
        expected, named["items"].numpy(), named["titles"].numpy(), strict=True
    ):
        assert [name.decode() for name in names] == [str(100 + item) for item in row]
        assert [title.decode() for title in titles] == [f"Film {item}" for item in row]


def test_lines_that_users_write(make):
    recommender = make(top_k=50)
    assert recommender.top_k == ITEMS
    assert recommender.numbers(" 103,101 ,").tolist() == [3, 1]
    assert recommender.numbers(" ").tolist() == []
    line = recommender.describe(np.zeros(0, "int32"))
    assert line.startswith("Film 7 [107] 20.00; Film 8 [108] 19.00; ")
    with pytest.raises(UserError, match="There is no item 'Film 1'"):
        recommender.numbers("Film 1")
