"""Figures of each class against counts made by hand."""

import sys

import numpy as np
import pytest
from keras import ops

from keras_attention.metrics import (
    accuracy,
    class_scores,
    confusion_matrix,
    predicted_classes,
)

NAN = float("nan")
# Class 3 is in neither; class 2 is never predicted; one example is undecided.
LABELS = np.array([0, 0, 0, 1, 1, 2])
PREDICTED = np.array([0, 0, 1, 1, -1, 0])


def test_figures_by_hand():
    found = class_scores(LABELS, PREDICTED, num_classes=4)
    np.testing.assert_allclose(found.precision, [2 / 3, 1 / 2, NAN, NAN])
    np.testing.assert_allclose(found.recall, [2 / 3, 1 / 2, 0, NAN])
    np.testing.assert_allclose(found.f1, [2 / 3, 1 / 2, 0, NAN])
    assert found.support.tolist() == [3, 2, 1, 0]
    assert found.macro_f1 == pytest.approx((2 / 3 + 1 / 2) / 3)


def test_f1_where_precision_and_recall_differ():
    found = class_scores([0, 0, 0, 1], [0, 1, 1, 1], num_classes=2)
    assert found.precision.tolist() == [1, pytest.approx(1 / 3)]
    assert found.recall.tolist() == [pytest.approx(1 / 3), 1]
    np.testing.assert_allclose(found.f1, [0.5, 0.5])


def test_confusion_by_hand():
    """Rows are labels: an example of class 2 was taken for class 0."""
    assert confusion_matrix(LABELS, PREDICTED, num_classes=4).tolist() == [
        [2, 1, 0, 0],
        [0, 1, 0, 0],
        [1, 0, 0, 0],
        [0, 0, 0, 0],
    ]


def test_a_model_without_a_decision_is_right_nowhere():
    undecided = np.full(len(LABELS), -1)
    assert confusion_matrix(LABELS, undecided, num_classes=4).sum() == 0
    found = class_scores(LABELS, undecided, num_classes=4)
    assert found.macro_f1 == 0
    assert found.recall[:3].tolist() == [0, 0, 0]


def test_predictions_fit_accuracy():
    generator = np.random.default_rng(0)
    scores = generator.integers(0, 4, size=(200, 5)).astype("float32")  # many ties
    scores[::7, 2] = NAN
    labels = generator.integers(0, 5, size=200)
    predicted = predicted_classes(ops.convert_to_tensor(scores))
    assert (predicted == -1).any()
    assert accuracy(labels, scores) == (predicted == labels).mean() > 0


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0.1, 0.2, 0.7], 2),
        ([0.4, 0.2, 0.4], -1),
        ([NAN, 0.2, 0.7], -1),
        ([NAN, NAN, NAN], -1),
        ([-3.0, -1.0, -2.0], 1),
    ],
)
def test_predicted_classes(row, expected):
    assert predicted_classes(np.array([row])).tolist() == [expected]


@pytest.mark.parametrize("measure", [class_scores, confusion_matrix])
@pytest.mark.parametrize(
    ("labels", "predicted", "message"),
    [
        ([0, 1], [0], r"as many of both.*predicted=\(1,\)"),
        ([], [], "n above 0"),
        ([0, 2], [0, 1], "`labels` must be integers from 0 to 1.*largest=2"),
        ([0, -1], [0, 1], "`labels` must be integers from 0 to 1.*smallest=-1"),
        ([0, 1], [0, 2], "`predicted` must be integers from -1 to 1.*largest=2"),
    ],
)
def test_wrong_classes_are_refused(measure, labels, predicted, message):
    with pytest.raises(ValueError, match=message):
        measure(np.array(labels, int), np.array(predicted, int), num_classes=2)


@pytest.mark.parametrize("measure", [class_scores, confusion_matrix])
def test_without_scikit_learn_the_extra_is_named(measure, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "sklearn.metrics", raising=False)
    with pytest.raises(ImportError, match=r"keras-attention\[image-classification\]"):
        measure(LABELS, PREDICTED, num_classes=4)
