import matplotlib.image
import pytest

from applications.errors import UserError
from applications.pipeline.run import Run
from applications.translation import explanation
from applications.translation.data import TranslationData
from keras_attention import models


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path / "run")


@pytest.fixture
def data(config, vocabulary_model):
    return TranslationData(config, vocabulary_model)


def names(figures):
    return [figure.name for figure in figures]


def test_a_picture_for_each_text_and_layer(translator, config, data, run):
    texts = ["Open the file.", "Open the file!", "???"]
    figures = explanation.explain(config, data, translator.model, run, texts)
    assert names(figures) == [
        "open-the-file-decoder_0.png",
        "open-the-file-decoder_1.png",
        "open-the-file-2-decoder_0.png",
        "open-the-file-2-decoder_1.png",
        "signs-decoder_0.png",
        "signs-decoder_1.png",
    ]
    for figure in figures:
        assert figure.parent == run.path("figures")
        assert matplotlib.image.imread(figure).ndim == 3


def test_without_inputs_it_takes_readable_test_sentences(
    translator, config, data, run, monkeypatch
):
    asked = []

    def no_answers(_, texts):
        asked.extend(texts)
        return []

    monkeypatch.setattr(explanation.Translator, "answers", no_answers)
    monkeypatch.setattr(data, "sentences", lambda _: (["One two.", SIX, "x " * 30], []))
    with pytest.raises(ValueError, match="shorter"):  # of zip: nothing was aligned
        explanation.explain(config, data, translator.model, run, [])
    assert asked == [SIX]


SIX = "This sentence has exactly six words."


def test_a_model_without_attention(config, data, run):
    model = models.RecurrentSeq2Seq(data.tokenizer.vocabulary_size, 4, "none")
    with pytest.raises(UserError, match="without attention has nothing to show"):
        explanation.explain(config, data, model, run, ["Open."])


@pytest.mark.parametrize("inputs", [[""], ["Open.", "  "]])
def test_a_blank_text_is_refused(translator, config, data, run, inputs):
    with pytest.raises(UserError, match="blank text has nothing to show"):
        explanation.explain(config, data, translator.model, run, inputs)
    assert not run.directory.exists()
