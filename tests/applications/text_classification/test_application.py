"""The whole application, as a user meets it."""

import os
from dataclasses import replace

import numpy as np
import pytest

from applications.errors import UserError
from applications.text_classification.application import TextClassification
from applications.text_classification.export import ODD_TEXTS
from tests.applications.command_line import assert_holds, history
from tests.applications.text_classification.conftest import (
    CLASSES,
    SMOKE,
    classify,
)

NUMBERS = {
    "texts",
    "accuracy",
    "macro_f1",
    "calibration_error",
    "by_class",
    "roc_auc",
    "baselines",
    "above_tfidf_logistic_regression",
    "other_domains",
    "agreement",
    "cut_texts",
    "parameters",
    "texts_per_second",
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = classify.told(smoke, capsys)
    assert "400 training texts in" in printed["train"]
    assert "accuracy: " in printed["evaluate"]
    first, blank, last = printed["predict"].splitlines()
    assert blank == ""  # C41: a blank text stays blank
    for line in (first, last):
        label, probability = line.split()
        assert label in CLASSES
        assert 0.5 <= float(probability) <= 1
    assert "SavedModel alone equals this process on" in printed["export"]
    pictures = printed["explain"].splitlines()
    assert len(pictures) == 4
    assert all(os.path.getsize(picture) > 10_000 for picture in pictures)


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "classes.json", "predictions.npz", "vocabulary.model")
    assert smoke_run.config(type(SMOKE)).model == SMOKE.model
    rows = history(smoke_run)
    assert {"loss", "accuracy", "val_loss", "val_accuracy"} <= set(rows[0])
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    metrics = smoke_run.metrics()["evaluate"][0]["metrics"]
    assert set(metrics) == NUMBERS
    assert list(metrics["other_domains"]) == ["tweets", "amazon"]
    assert metrics["baselines"]["tfidf_logistic_regression"]["accuracy"] > 0.8
    figures = {path.name for path in smoke_run.path("figures").iterdir()}
    assert {"confusion.png", "reliability.png"} < figures


@pytest.mark.slow
def test_the_saved_model_of_the_smoke_run(smoke_run):
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  registers the SentencePiece operations

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    assert set(loaded.signatures) == {"serving_default", "classify"}
    classify_texts = loaded.signatures["classify"]
    together = classify_texts(text=tf.constant(ODD_TEXTS))
    assert together["probabilities"].shape == (len(ODD_TEXTS), 2)
    assert np.isfinite(together["probabilities"]).all()
    for row, text in enumerate(ODD_TEXTS):
        alone = loaded.signatures["serving_default"](text=tf.constant([text]))
        np.testing.assert_allclose(
            alone["probabilities"][0], together["probabilities"][row], atol=1e-5
        )
    labels = [label.decode() for label in together["label"].numpy()]
    assert labels[:2] == ["", ""]  # C41
    # C43, C45: case in every script, composed and decomposed.
    forms = ["ÉCOLE École", "école ÉCOLE", "e\u0301cole E\u0301cole"]
    found = classify_texts(text=tf.constant(forms))["probabilities"].numpy()
    np.testing.assert_allclose(found, found[[0, 0, 0]], atol=1e-6)


@pytest.mark.slow
def test_explain_and_evaluate_refuse_what_they_cannot_do(smoke_run, tmp_path, capsys):
    line = classify.refused(capsys, "explain", "--preset", "smoke", "input= ")
    assert "A blank text has nothing to show" in line
    path = tmp_path / "mine.csv"
    rows = "".join(f"text {i},{'an' if i % 2 else 'zo'}\n" for i in range(200))
    path.write_text("text,label\n" + rows)
    name = f"data.name={path}"
    line = classify.refused(capsys, "evaluate", "--preset", "smoke", name)
    assert "new: an, gone: negative, gone: positive, new: zo. Train a new run." in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke model.kind=gru", "`model.kind` must be one of self_"),
        ("train --preset smoke data.name=missing.csv", "missing.csv cannot be read"),
        ("train --preset smoke data.name=vadr", "Did you mean 'vader'?"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in classify.refused(capsys, *arguments.split())
    assert classify.listing(root) == []


def test_an_unknown_attention_is_refused(data):
    model = replace(SMOKE.model, kind="transformer", attention="linformer")
    with pytest.raises(UserError, match=r"Unknown model\.attention 'linformer'"):
        TextClassification().build_model(replace(SMOKE, model=model), data)
