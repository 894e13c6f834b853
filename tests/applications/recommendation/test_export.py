import numpy as np
import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.recommendation import export
from applications.recommendation.recommender import Recommender
from keras_attention import export as exporting
from keras_attention.models.sequence_recommender import KINDS
from tests.applications.recommendation.conftest import CATALOGUE, circle
from tests.backend import thorough_but

HISTORIES = [np.array(circle(user)[:-1], "int32") for user in range(30)]


@pytest.fixture
def recommender(make_model, counts):
    return Recommender(make_model(), CATALOGUE, counts, 5)


@pytest.fixture
def pretended(recommender, monkeypatch):
    """The fresh process is stood in for by answers that a test may change."""
    asked = []

    def ask(directory, batches, endpoints, ranks):
        asked.extend(batches)
        return {
            endpoint: [changes(endpoint, answer(endpoint, batch)) for batch in batches]
            for endpoint in endpoints
        }

    def answer(endpoint, batch):
        if endpoint == export.RECOMMEND:
            found = recommender.answer(tf.constant(batch["items"]))
        else:
            names = tf.constant(batch["names"].tolist(), tf.string)
            found = recommender.named(names)
        return {name: value.numpy() for name, value in found.items()}

    def changes(endpoint, answer):
        return answer

    def change(function):
        nonlocal changes
        changes = function

    monkeypatch.setattr(exporting, "ask_alone", ask)
    return asked, change


def test_what_is_asked(pretended, recommender, tmp_path, capsys):
    export.check(tmp_path, HISTORIES, recommender)
    said = capsys.readouterr().out
    assert "recommend: SavedModel alone equals this process on 36 histories" in said
    shapes = [batch["items"].shape for batch in pretended[0]]
    assert (1, 0) in shapes  # nothing at all
    assert (1, 19) in shapes  # all but one
    for batch in pretended[0]:
        assert batch["names"].shape == batch["items"].shape


@pytest.mark.parametrize("endpoint", [export.RECOMMEND, export.NAMED])
def test_another_score_is_an_error_that_shows_it(
    pretended, recommender, tmp_path, endpoint
):
    def other(name, answer):
        off = 0.01 if name == endpoint else 0.0
        return {**answer, "scores": answer["scores"] + np.float32(off)}

    pretended[1](other)
    with pytest.raises(
        UserError, match=rf"{endpoint} answers otherwise.*by up to 1\.0"
    ):
        export.check(tmp_path, HISTORIES, recommender)


def test_other_items_and_taken_ones_are_errors(pretended, recommender, tmp_path):
    def other(name, answer):
        return {**answer, "items": np.full_like(answer["items"], 3)}

    pretended[1](other)
    with pytest.raises(UserError, match=r"[1-9]\d* items are others, 0 were taken"):
        export.check(tmp_path, [np.array([1, 2], "int32")], recommender)
    with pytest.raises(UserError, match="items are others, 1 were taken before"):
        export.check(tmp_path, [np.array([3], "int32")], recommender)


@pytest.mark.slow
@pytest.mark.parametrize("kind", thorough_but(["narm", "din"], KINDS))
def test_other_kinds_answer_in_their_saved_model(make_model, counts, tmp_path, kind):
    recommender = Recommender(make_model(kind), CATALOGUE, counts, 5)
    export.export(recommender, tmp_path / "saved")
    answer = tf.saved_model.load(str(tmp_path / "saved")).signatures["recommend"]
    for items in ([[1, 2, 3]], [[0, 0, 4], [5, 0, 0]], [list(range(1, 15))]):
        found, here = (
            answer(items=tf.constant(items)),
            recommender.answer(tf.constant(items)),
        )
        np.testing.assert_array_equal(found["items"], here["items"])
        np.testing.assert_allclose(found["scores"], here["scores"], atol=1e-4)
