import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.speech_recognition import evaluation
from applications.speech_recognition.learned import note
from applications.speech_recognition.recognizer import Recognizer
from keras_attention import metrics


@pytest.fixture
def data(make_data):
    return make_data(objective="ctc")


@pytest.fixture
def run(data, root):
    made = runs.create(root, "speech_recognition", "smoke", data.config)
    note(made, data.learned)
    return made


def test_figures_follow_from_the_texts(data, run, make_recognizer):
    model = make_recognizer(data).model
    with pytest.raises(UserError, match=r"has no transcripts\.tsv"):
        evaluation.read_transcripts(run)
    values = evaluation.evaluate(data.config, data, model, run)
    keys, references, texts = evaluation.read_transcripts(run)
    test = data.clips("test")
    assert (keys, references) == (test.keys, test.texts)
    assert values["clips"] == len(references) == 7
    for name, rate in (
        ("cer", metrics.character_error_rate(texts, references)),
        ("wer", metrics.word_error_rate(texts, references)),
    ):
        assert values[name] == rate.value
        interval = metrics.error_rate_interval(rate)
        assert values[f"{name}_interval"] == {
            "low": interval.low,
            "high": interval.high,
        }
        assert sum(values[f"{name}_errors"].values()) == rate.per_text[:, 0].sum()
    assert set(values["greedy"]) == {"cer", "wer"}
    assert values["baselines"]["empty_output"] == {"cer": 1.0, "wer": 1.0}
    usual = data.learned.most_frequent_text
    baseline = values["baselines"]["most_frequent_text"]
    assert baseline["text"] == usual
    found = metrics.character_error_rate([usual] * 7, references)
    assert baseline["cer"] == found.value
    gap = values["cer_difference_to_most_frequent_text"]
    assert gap["value"] == pytest.approx(values["cer"] - found.value)
    assert values["impossible_labels"] == 0
    assert values["seconds_per_second_of_sound"] > 0
    assert values["protocol"]["search"] == "prefix beam 2"


def test_a_model_that_gives_nan_is_refused(data, run, make_recognizer):
    model = make_recognizer(data).model
    model.set_weights([weight * np.nan for weight in model.get_weights()])
    with pytest.raises(UserError, match="smoke-001 gives NaN for test clips"):
        evaluation.evaluate(data.config, data, model, run)


def heard(recognizer, clips, search="beam"):
    """In place of a search."""
    return ["ab"] * len(clips)


def test_texts_of_other_settings_are_not_kept(
    data, run, make_data, make_recognizer, monkeypatch
):
    model = make_recognizer(data).model
    monkeypatch.setattr(
        Recognizer, "__call__", lambda _, clips, *__: ["a"] * len(clips)
    )
    fewer = make_data(objective="ctc", test_limit=3)
    values = evaluation.evaluate(fewer.config, fewer, model, run)
    assert values["clips"] == 3
    assert not run.path(evaluation.TRANSCRIPTS).exists()


def test_baselines_need_no_hearing():
    found = evaluation.baselines(2, "yes")
    assert found == {"empty_output": ["", ""], "most_frequent_text": ["yes", "yes"]}
    rates = evaluation.rates(found["most_frequent_text"], ["yes", "no"])
    assert rates == {"cer": 3 / 5, "wer": 1 / 2}
    assert np.isfinite(list(rates.values())).all()
