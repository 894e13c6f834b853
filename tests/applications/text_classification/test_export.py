import numpy as np
import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.text_classification import export
from keras_attention import export as exporting


def test_a_difference_is_an_error_that_shows_it(make_classifier, tmp_path, monkeypatch):
    """The fresh process is stood in for by answers that differ in one probability."""
    classifier = make_classifier("mean_embeddings")
    asked = []

    def ask(directory, batches, endpoints):
        asked.extend(text for batch in batches for text in batch)
        found = []
        for batch in batches:
            probabilities = classifier.probabilities(batch)
            labels = classifier.labels(batch, probabilities)
            largest = probabilities.max(axis=1) + 0.01 * np.array(
                ["file" in text for text in batch]
            )
            found.append({"label": labels, "probability": largest.tolist()})
        return {"classify": found}

    monkeypatch.setattr(exporting, "ask_alone", ask)
    export.check(tmp_path, ["one", "two"], classifier)
    assert set(export.ODD_TEXTS) < set(asked)
    with pytest.raises(UserError, match=r"differ by up to 1\.0e-02, 0 of"):
        export.check(tmp_path, ["open the file"], classifier)


@pytest.mark.slow
def test_a_recurrent_model_answers_in_its_saved_model(make_classifier, tmp_path):
    classifier = make_classifier("additive_pooling")
    export.export(classifier, tmp_path / "saved")
    answer = tf.saved_model.load(str(tmp_path / "saved")).signatures["classify"]
    found = answer(text=tf.constant(export.ODD_TEXTS))
    expected = classifier.probabilities(export.ODD_TEXTS)
    np.testing.assert_allclose(found["probabilities"], expected, atol=1e-5)
    labels = [label.decode() for label in found["label"].numpy()]
    assert labels == classifier.labels(export.ODD_TEXTS, expected)
