import numpy as np
import pytest

from applications.text_classification import word_measures
from applications.text_classification.word_measures import (
    ATTENTION,
    GRADIENT,
    OCCLUSION,
    Explained,
    agreement,
    explained,
)
from keras_attention.models.text_classifier import KINDS

TEXTS = ["Open the file now.", "Das", "The windows, of the document!"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_word_has_its_numbers(make_classifier, kind):
    classifier = make_classifier(kind)
    found = explained(classifier.model, classifier.reader, TEXTS)
    names = [] if kind == "mean_embeddings" else [ATTENTION]
    for text, one in zip(TEXTS, found, strict=True):
        assert one.words == text.lower().split()
        assert list(one.measures) == [*names, GRADIENT, OCCLUSION]
        for values in one.measures.values():
            assert values.shape == (len(one.words),)
        if names:
            assert one.measures[ATTENTION].sum() == pytest.approx(1, abs=1e-4)


def test_a_text_among_others_is_as_alone(make_classifier):
    classifier = make_classifier("transformer")
    together = explained(classifier.model, classifier.reader, TEXTS)
    for text, one in zip(TEXTS, together, strict=True):
        (alone,) = explained(classifier.model, classifier.reader, [text])
        for name, values in one.measures.items():
            np.testing.assert_allclose(values, alone.measures[name], atol=1e-4)


def test_occlusion_is_the_model_without_the_word(make_classifier):
    classifier = make_classifier("mean_embeddings")
    (one,) = explained(classifier.model, classifier.reader, ["open the file"])
    logits = classifier.logits(["open the file", "the file", "open file", "open the"])
    label = logits[0].argmax()
    odds = logits[:, label] - logits[:, 1 - label]
    np.testing.assert_allclose(one.measures[OCCLUSION], odds[0] - odds[1:], atol=1e-4)


def test_agreement_is_of_magnitudes():
    first = Explained(list("abc"), {"x": np.array([1.0, -3, 2]), "y": np.arange(3.0)})
    second = Explained(list("ab"), {"x": np.array([1.0, 2]), "y": np.array([1.0, 3])})
    alone = Explained(["a"], {"x": np.ones(1), "y": np.ones(1)})
    found = agreement([first, second, alone])
    assert found["texts"] == 3
    # 1, 3, 2 beside 0, 1, 2: one pair of three disagrees; the second text agrees.
    assert found["x, y"]["value"] == pytest.approx((1 / 3 + 1) / 2)
    assert found["x, y"]["low"] < found["x, y"]["value"] < found["x, y"]["high"]
    assert np.isnan(agreement([alone])["x, y"]["value"])
    assert agreement([]) == {"texts": 0}


def test_linear_attention_has_no_shares(make_classifier):
    from keras_attention import models

    model = models.TextClassifier(
        9, 2, "transformer", hidden_dim=8, num_heads=2, attention="linear"
    )
    assert word_measures.attention_shares(model, np.array([[5, 6]])) is None
