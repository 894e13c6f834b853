import numpy as np
import pytest
from PIL import Image

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.recommendation import explanation
from applications.recommendation.recommender import Recommender
from keras_attention.interpretation import plots
from tests.applications.recommendation.conftest import CATALOGUE


@pytest.fixture
def draw(config, data, root, make_model, counts, monkeypatch):
    run = runs.create(root, "recommendation", "smoke", config)
    drawn = []

    def shaded(titles, measures, heading):
        drawn.append((titles, list(measures), heading))
        return original(titles, measures, heading)

    original = plots.shaded_text
    monkeypatch.setattr(plots, "shaded_text", shaded)

    def explain(kind, inputs=()):
        model = make_model(kind)
        recommender = Recommender(model, CATALOGUE, counts, 3)
        paths = explanation.explain(data, model, run, recommender, inputs)
        for path in paths:
            assert np.asarray(Image.open(path).convert("L")).std() > 5
        return [path.stem for path in paths], drawn

    return explain


def test_a_history_of_ones_own(draw):
    names, drawn = draw("sasrec", ["101,105,103"])
    assert names == ["history-1"]
    ((titles, measures, heading),) = drawn
    assert titles == ["Film 1", "Film 5", "Film 3"]
    assert measures == ["attention", "head 0", "head 1", "deletion"]
    assert heading.startswith("next: Film ")
    assert heading.removeprefix("next: ") not in titles


def test_examples_are_test_users(draw, monkeypatch):
    monkeypatch.setattr(explanation, "_EXAMPLES", 2)
    names, drawn = draw("gru")
    assert names == ["user-0", "user-1"]
    assert [measures for _, measures, _ in drawn] == [["deletion"]] * 2


def test_of_a_long_history_the_last_that_were_read(draw):
    _, ((titles, _, _),) = draw("bert4rec", [",".join(map(str, range(101, 116)))])
    assert titles == [f"Film {i}" for i in range(5, 16)]  # eleven and the mask


def test_any_name_of_a_user_makes_a_file_name(data):
    """A log may call its users what it likes."""
    users = data.interactions.log.histories
    for place, name in enumerate(("a/b", "A B", "../c")):
        users[place] = users[place]._replace(user=name)
    names = [name for name, _ in explanation._examples(data)]
    assert names == ["user-a-b", "user-a-b-2", "user-c", "user-3"]


@pytest.mark.parametrize("history", ["", "101"])
def test_too_short_a_history_is_refused(draw, history):
    with pytest.raises(UserError, match="A history needs two items or more"):
        draw("sasrec", [history])
