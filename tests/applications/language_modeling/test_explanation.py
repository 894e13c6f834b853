from dataclasses import replace

import pytest

from applications.errors import UserError
from applications.language_modeling import explanation, networks
from applications.pipeline import run as runs
from tests.applications.language_modeling.conftest import SMOKE


@pytest.fixture
def run(root):
    return runs.create(root, "language_modeling", "smoke", SMOKE)


def test_a_gap_is_read_around(byte_data, run):
    data = byte_data("masked")
    model = networks.build(data.config, data.tokens.vocabulary_size)
    drawn = explanation.explain(data, model, run, ["Open t[MASK]e"])
    assert [path.name for path in drawn] == [
        "open-t-mask-e-block_0.png",
        "open-t-mask-e-read.png",
    ]


def test_attention_without_scores_has_nothing_to_show(byte_data, run):
    data = byte_data()
    config = replace(data.config, model=replace(SMOKE.model, attention="linear"))
    model = networks.build(config, data.tokens.vocabulary_size)
    with pytest.raises(UserError, match="never holds scores"):
        explanation.explain(data, model, run, ["Open"])


def test_examples_are_the_first_words_of_documents():
    texts = [" ".join(f"w{i}" for i in range(40)), "short", "third"]
    plain, short = explanation._examples(texts, hides=False)
    assert plain.split() == [f"w{i}" for i in range(24)]
    hidden, _ = explanation._examples(texts, hides=True)
    assert hidden.split().index("[MASK]") == 12
    assert short == "short"
