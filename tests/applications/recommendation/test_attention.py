import numpy as np
import pytest

from applications.recommendation.attention import (
    ATTENTION,
    falls,
    log_probabilities,
    shares,
)
from applications.recommendation.scorer import Scorer

HISTORY = np.array([4, 9, 2, 7, 11], "int32")


@pytest.mark.parametrize(
    ("kind", "heads"), [("sasrec", 2), ("bert4rec", 2), ("narm", 0), ("din", 2)]
)
def test_every_item_has_its_share(make_model, kind, heads):
    found = shares(make_model(kind), HISTORY, 3, 12)
    assert list(found) == [ATTENTION, *(f"head {i}" for i in range(heads))]
    for values in found.values():
        assert values.shape == (5,)
        assert values.sum() == pytest.approx(1, abs=1e-5)
        assert values.min() >= 0


def test_of_a_long_history_the_last_items(make_model):
    long = np.arange(1, 18, dtype="int32")
    lengths = {"sasrec": 12, "bert4rec": 11}  # the mask takes a place
    for kind, read in lengths.items():
        assert len(shares(make_model(kind), long, 20, 12)[ATTENTION]) == read


def test_the_candidate_asks(make_model):
    model = make_model("din")
    first, other = (shares(model, HISTORY, item, 12)[ATTENTION] for item in (3, 15))
    assert np.abs(first - other).max() > 1e-3


def test_a_recurrent_model_does_not_attend(make_model):
    assert shares(make_model("gru"), HISTORY, 3, 12) is None


def test_a_fall_is_the_model_without_the_item(make_model):
    score = Scorer(make_model(), 12)
    found = falls(score, HISTORY, 3, [0, 4])
    before, first, last = log_probabilities(
        score([HISTORY, HISTORY[1:], HISTORY[:-1]])
    )[:, 3]
    np.testing.assert_allclose(found, [before - first, before - last], atol=1e-6)


def test_log_probabilities_of_infinite_scores():
    found = log_probabilities(np.array([[-np.inf, 0.0, np.log(3.0)]]))
    np.testing.assert_allclose(np.exp(found), [[0, 0.25, 0.75]])
