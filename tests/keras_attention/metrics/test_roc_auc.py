"""The area under the curve, by counting pairs."""

import numpy as np
import pytest

from keras_attention.metrics import roc_auc

pytest.importorskip("sklearn")


def by_pairs(positive, negative):
    return np.mean([(p > n) + 0.5 * (p == n) for p in positive for n in negative])


def test_two_classes_by_pairs():
    generator = np.random.default_rng(0)
    labels = np.arange(31) % 2
    logits = generator.integers(0, 4, (31, 2)).astype("float32")  # with ties
    gap = logits[:, 1] - logits[:, 0]
    expected = by_pairs(gap[labels == 1], gap[labels == 0])
    assert roc_auc(labels, logits) == pytest.approx(expected)


def test_more_classes_are_the_mean_of_each_against_the_rest():
    scores = np.random.default_rng(1).random((29, 3))
    labels = np.arange(29) % 3
    areas = [
        by_pairs(scores[labels == label, label], scores[labels != label, label])
        for label in range(3)
    ]
    assert roc_auc(labels, scores) == pytest.approx(np.mean(areas))


def test_a_constant_is_no_better_than_chance():
    assert roc_auc([0, 1, 1, 0], np.full((4, 2), 0.5)) == 0.5


@pytest.mark.parametrize("labels", [[1, 1, 1], [0, 0, 0]])
def test_without_two_classes_there_is_no_area(labels):
    assert np.isnan(roc_auc(labels, np.eye(3, 2)))
    assert np.isnan(roc_auc([0, 1, 1], np.eye(3)))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ones((2, 1)), "two classes or more"),
        (np.array([[0.0, np.nan], [1, 0]]), "must be finite"),
        (np.ones((3, 2)), "Labels must be"),
    ],
)
def test_wrong_scores_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        roc_auc([0, 0], scores)
