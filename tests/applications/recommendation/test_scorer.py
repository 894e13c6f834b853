import numpy as np
import pytest

from applications.recommendation import scorer
from applications.recommendation.scorer import Scorer, blocks, padded
from tests.applications.recommendation.conftest import ITEMS


@pytest.mark.parametrize("kind", ["sasrec", "din"])
def test_blocks_change_nothing(make_model, monkeypatch, kind):
    model = make_model(kind)
    histories = [np.arange(1, n) for n in (2, 7, 15)]
    together = Scorer(model, 12)(histories)
    assert together.shape == (3, ITEMS + 1)
    assert (together[:, 0] == -np.inf).all()
    assert np.isfinite(together[:, 1:]).all()
    monkeypatch.setattr(scorer, "USERS_AT_ONCE", 2)
    np.testing.assert_allclose(Scorer(model, 12)(histories), together, atol=1e-5)
    assert [len(block) for block in blocks(histories)] == [2, 1]


def test_the_last_items_are_read(make_model):
    score = Scorer(make_model(), 12)
    long = np.arange(1, 18)
    np.testing.assert_array_equal(score([long]), score([long[-12:]]))
    assert padded([long], 3).tolist() == [[15, 16, 17]]
    assert padded([long[:2], long[:0]]).tolist() == [[1, 2], [0, 0]]
    assert padded([long[:0]]).shape == (1, 0)
