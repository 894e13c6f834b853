import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline.run import Run
from applications.summarization import explanation
from applications.summarization.application import Summarization
from applications.summarization.data import SummarizationData
from applications.text.alignment import Alignment


def test_subwords_are_put_together_to_words():
    alignment = Alignment(["▁Lib", "re", "▁(red)", "</s>"], ["▁Libre", "</s>"], {})
    attention = np.array([[0.5, 0.2, 0.2, 0.1], [0.0, 0.0, 0.1, 0.9]])
    figure = explanation.shaded(alignment, {"attention": attention})
    assert [text.get_text() for text in figure.axes[0].texts] == [
        "Libre",
        "(red)",
        "</s>",
    ]
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Libre: attention 0.70 at Libre", "</s>: attention 0.90 at </s>"]


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("gru", "Open.", "without attention has nothing to show"),
        ("pointer_transformer", " ", "blank text has nothing to show"),
    ],
)
def test_nothing_to_show(config, vocabulary_model, tmp_path, kind, text, words):
    from dataclasses import replace

    config = replace(config, model=replace(config.model, kind=kind))
    data = SummarizationData(config, vocabulary_model)
    model = Summarization().build_model(config, data)
    run = Run(tmp_path / "run")
    with pytest.raises(UserError, match=words):
        explanation.explain(config, data, model, run, [text])
    assert not run.directory.exists()
