import sys

import numpy as np
import pytest

from applications.errors import UserError
from applications.image_classification import export
from applications.image_classification.classifier import Classifier
from keras_attention import export as exporting
from tests.applications.image_classification.conftest import CLASSES, cnn


@pytest.fixture
def classifier(data):
    """Of a model that is sure of what it says."""
    model = cnn("squeeze_excitation")
    kernel = model.get_layer("logits").kernel
    kernel.assign(100 * kernel)
    return Classifier(model, data)


def answering(change):
    """Stands for the fresh process: answers as the model does, then changed."""

    def ask(directory, batches, endpoints):
        import tensorflow as tf

        answers = []
        for batch in batches:
            found = change.classifier.answer(tf.constant(batch))
            labels = [label.decode() for label in found["label"].numpy()]
            probabilities = found["probability"].numpy()
            answers.append(change(labels, probabilities))
        return {"classify": answers}

    return ask


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda labels, p: (["?", *labels[1:]], p), "2 of 5 labels"),
        (lambda labels, p: (labels, p + 0.01), "probabilities differ by up to 1.0e-02"),
    ],
    ids=["labels", "probabilities"],
)
def test_a_difference_is_an_error_that_shows_it(
    classifier, data, tmp_path, monkeypatch, change, words
):
    def changed(labels, probabilities):
        labels, probabilities = change(labels, probabilities)
        return {"label": labels, "probability": list(probabilities)}

    changed.classifier = classifier
    monkeypatch.setattr(exporting, "ask_alone", answering(changed))
    images, _ = data.arrays("test", 5)
    with pytest.raises(UserError, match=words):
        export.check(tmp_path, images, classifier)


def test_a_missing_extra_is_one_line(config, data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    for module, step in ((exporting, "write"), (export, "check")):
        monkeypatch.setattr(module, step, lambda *_: None)
    monkeypatch.setitem(export._WRITERS, "litert", lambda *_: None)
    with pytest.raises(UserError, match=r"keras-attention\[litert\].* export.formats="):
        export.export(config, data, cnn(), tmp_path / "saved")


@pytest.mark.slow
def test_the_saved_model_of_the_smoke_run(smoke_run, digits):
    import tensorflow as tf

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    assert set(loaded.signatures) == {"serving_default", "classify"}
    files = [path.read_bytes() for path in sorted(digits.glob("*/10*.png"))]
    together = loaded.signatures["classify"](image=tf.constant(files))
    assert together["probabilities"].shape == (len(files), len(CLASSES))
    np.testing.assert_allclose(together["probabilities"].numpy().sum(1), 1, atol=1e-5)
    alone = loaded.signatures["serving_default"](image=tf.constant(files[:1]))
    np.testing.assert_allclose(
        alone["probabilities"][0], together["probabilities"][0], atol=1e-5
    )
    extra = smoke_run.path("saved_model", "1", "assets.extra")
    assert {path.name for path in extra.iterdir()} == {"model.tflite", "model.onnx"}
