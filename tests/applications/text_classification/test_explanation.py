import numpy as np
import pytest
from PIL import Image

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.text_classification import explanation


@pytest.fixture
def draw(config, data, root, make_classifier):
    run = runs.create(root, "text_classification", "smoke", config)

    def explain(kind, inputs=()):
        paths = explanation.explain(data, make_classifier(kind).model, run, inputs)
        for path in paths:
            assert np.asarray(Image.open(path).convert("L")).std() > 5
        return [path.stem for path in paths]

    return explain


def test_the_users_own_texts_in_every_script(draw):
    texts = ["Not bad!", "مرحبا שלום", "猫 🎉", "not bad"]
    names = ["not-bad", "مرحبا-שלום", "猫", "not-bad-2"]
    assert draw("self_attention", texts) == names


def test_examples_are_texts_of_the_test_split(draw, data, monkeypatch):
    monkeypatch.setattr(explanation, "_EXAMPLES", 2)
    assert len(draw("mean_embeddings")) == 2
    texts, truths = explanation._examples(data)
    assert set(texts) <= set(data.texts("test").texts)
    assert set(truths) <= {"negative", "positive"}


@pytest.mark.parametrize("blank", ["", " ", "<br />"])
def test_a_blank_text_is_refused(draw, blank):
    with pytest.raises(UserError, match="A blank text has nothing to show"):
        draw("mean_embeddings", ["good", blank])
