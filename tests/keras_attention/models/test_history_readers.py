"""How a history is lined up, and what the readers make of it."""

import numpy as np
import pytest
from keras import ops

from keras_attention.models import _history_readers
from keras_attention.models._history_readers import latest
from tests.backend import to_numpy
from tests.keras_attention.models.recommenders import (
    HISTORIES,
    ITEMS,
    LENGTHS,
    V,
    sharp,
)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([5, 6, 7, 0, 0], [5, 6, 7]),
        ([0, 0, 5, 0, 6], [5, 6, 0]),
        ([5, 0, 6, 7, 8], [6, 7, 8]),
        ([5, 5, 4, 4, 9], [4, 4, 9]),
        ([0, 0, 0, 0, 0], [0, 0, 0]),
    ],
)
def test_the_latest_items_stand_on_the_left(items, expected):
    assert to_numpy(latest(np.array([items]), 3))[0].tolist() == expected
    assert to_numpy(latest(np.array([items]), 9)).shape == (1, 5)


def test_the_question_of_bert4rec_ends_in_a_mask_token():
    reader = sharp("bert4rec").reader
    mask = reader.mask_token
    assert mask == V
    question = to_numpy(reader.question(HISTORIES))
    for row, length in enumerate(LENGTHS):
        kept = min(length, 6)
        items = HISTORIES[row, length - kept : length].tolist()
        assert question[row].tolist() == [*items, mask] + [0] * (6 - kept)
    assert to_numpy(reader.question(np.zeros((1, 2)))).tolist() == [[mask, 0, 0]]


def test_the_question_of_the_others_is_the_history():
    question = to_numpy(sharp("sasrec").reader.question(HISTORIES))
    np.testing.assert_array_equal(question, HISTORIES)


@pytest.mark.parametrize("width", [5, V, 99])
def test_blocks_of_candidates_are_as_all_at_once(width, monkeypatch):
    """Padding is hidden inside the loop as well."""
    model = sharp("din")
    candidates = np.broadcast_to(np.arange(1, V), (3, ITEMS))
    expected = to_numpy(model.scores(HISTORIES, candidates))
    monkeypatch.setattr(_history_readers, "BLOCK", width)
    found = to_numpy(model.reader.all_scores(ops.convert_to_tensor(HISTORIES)))
    assert found.shape == (3, V)
    np.testing.assert_allclose(found[:, 1:], expected, atol=1e-4)
