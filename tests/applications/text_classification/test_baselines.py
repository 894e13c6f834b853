import numpy as np
import pytest

from applications.text_classification.baselines import TfidfRegression, most_frequent
from applications.text_classification.data import Texts

TRAIN = Texts(["good film", "bad film", "not good", "so bad", "a good one"] * 3,
              np.array([1, 0, 0, 0, 1] * 3))  # fmt: skip


def test_pairs_of_words_count():
    found = TfidfRegression(TRAIN, TRAIN)
    assert found.predicted(["not good", "good film"], 2).tolist() == [0, 1]
    probabilities = found.probabilities(["good", "unheard"], 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_classes_that_training_lacks_have_no_probability():
    found = TfidfRegression(TRAIN, TRAIN).probabilities(["good"], 4)
    assert found.shape == (1, 4)
    assert found[0, 2:].tolist() == [0, 0]


@pytest.mark.parametrize("label", [0, 1])
def test_validation_chooses_the_strength(label):
    """The first of equal strengths, the most careful one."""
    held_out = Texts(["unheard"], np.array([label]))
    regressions = TfidfRegression(TRAIN, held_out)
    assert regressions.strength in (1.0, 4.0, 16.0)
    own = regressions.predicted(["unheard"], 2)[0]
    if own != label:  # no strength gets it right
        assert regressions.strength == 1.0


def test_most_frequent():
    assert most_frequent(TRAIN, 2).tolist() == [0, 0]
