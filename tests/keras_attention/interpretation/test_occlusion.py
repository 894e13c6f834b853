"""Occlusion: the model asked again without a word."""

import numpy as np
import pytest

from keras_attention.interpretation import occlusion
from tests.backend import to_numpy
from tests.keras_attention.interpretation.toy_texts import linear_classifier

IDS = np.array([[1, 2, 4], [3, 1, 0]])
WORDS = np.array([[0, 0, 1], [0, 1, -1]])


def odds(model, ids, label):
    logits = to_numpy(model(np.array([ids])))[0]
    return logits[label] - logits[1 - label]


@pytest.mark.parametrize("batch_size", [1, 3, 256])
def test_words_are_taken_away_one_by_one(batch_size):
    model = linear_classifier()
    found = occlusion(model, IDS, WORDS, classes=[0, 1], batch_size=batch_size)
    for text, label, rows in (
        (0, 0, [[0, 0, 4], [1, 2, 0]]),
        (1, 1, [[0, 1, 0], [3, 0, 0]]),
    ):
        whole = odds(model, IDS[text], label)
        expected = [whole - odds(model, row, label) for row in rows]
        np.testing.assert_allclose(found[text], expected, rtol=1e-5, atol=1e-6)


def test_by_default_every_token_of_the_predicted_class():
    model = linear_classifier()
    found = occlusion(model, np.array([[3, 2]]))
    # The log odds of class 0 are the mean of -4 and 4, 0: a tie, and the first counts.
    np.testing.assert_allclose(found, [[-4, 4]], rtol=1e-5)


def test_another_replacement():
    """Token 3 is twice token 1: without padding the length stays what it was."""
    found = occlusion(linear_classifier(), [[3, 1]], classes=1, replacement=1)
    np.testing.assert_allclose(found, [[1, 0]], rtol=1e-5, atol=1e-6)


def test_a_text_without_words_has_nothing_to_lose():
    found = occlusion(linear_classifier(), [[0, 0], [3, 1]], [[-1, -1], [0, 1]])
    assert found.shape == (2, 2)
    assert found[0].tolist() == [0, 0]
    assert occlusion(linear_classifier(), [[0, 0]], [[-1, -1]]).shape == (1, 0)


@pytest.mark.parametrize(
    ("groups", "classes", "message"),
    [
        ([[0, 1]], None, "`ids` and `groups` must have the same shape"),
        ([[0, 0, -2], [0, 0, 0]], None, "`groups` must be at least -1"),
        (None, 2, "from 0 to 1"),
    ],
)
def test_wrong_inputs_are_refused(groups, classes, message):
    with pytest.raises(ValueError, match=message):
        occlusion(linear_classifier(), IDS, groups, classes)
