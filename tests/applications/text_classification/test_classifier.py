import numpy as np
import pytest
import tensorflow as tf

from applications.text_classification.export import ODD_TEXTS
from keras_attention.models.text_classifier import KINDS
from tests.applications.text_classification.conftest import CLASSES


@pytest.mark.parametrize("kind", KINDS)
def test_odd_texts_are_answered_as_when_alone(make_classifier, kind):
    """C41: blank texts among others, emoji, right to left, decomposed, very long."""
    classifier = make_classifier(kind)
    texts = ["Open the file.", *ODD_TEXTS]
    together = classifier.probabilities(texts)
    assert np.isfinite(together).all()
    alone = np.concatenate([classifier.probabilities([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together[1], together[2], atol=1e-6)  # both blank
    labels = classifier.labels(texts, together)
    assert labels[1:3] == ["", ""]
    assert "" not in (labels[0], *labels[3:])


def test_the_graph_answers_as_python_does(make_classifier):
    classifier = make_classifier()
    texts = ["Open the file.", "", "Das Fenster", *ODD_TEXTS]
    expected = classifier.probabilities(texts)
    answer = tf.function(classifier.answer, autograph=False)(tf.constant(texts))
    np.testing.assert_allclose(answer["probabilities"], expected, atol=1e-5)
    np.testing.assert_allclose(answer["probability"], expected.max(1), atol=1e-5)
    labels = [label.decode() for label in answer["label"].numpy()]
    assert labels == classifier.labels(texts, expected)
    lines = list(classifier.describe(texts[:2]))
    best = CLASSES[expected[0].argmax()]
    assert lines == [f"{best} {expected[0].max():.2f}", ""]


def test_logits_keep_the_order_of_many_texts(make_classifier, data):
    classifier = make_classifier()
    texts = data.texts("train").texts[:150]  # more than one batch
    found = classifier.logits(texts)
    rows = [3, 149, 77]
    expected = classifier.logits([texts[row] for row in rows])
    np.testing.assert_allclose(found[rows], expected, atol=1e-5)
    assert classifier.logits([]).shape == (0, 2)
