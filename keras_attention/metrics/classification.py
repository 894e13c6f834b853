"""Precision, recall and F1 of every class, and which classes are taken for which."""

from typing import Any, NamedTuple

import numpy as np
from keras import ops

from keras_attention.errors import import_extra, positive_integer, require
from keras_attention.metrics.top_k import check_classes

UNDECIDED = -1


class ClassScores(NamedTuple):
    """Figures of every class, in the order of their numbers.

    Attributes:
        precision: (C,) share of the examples given this class that have it; NaN where
            none was given it.
        recall: (C,) share of the examples of this class that were given it; NaN where
            there are none.
        f1: (C,) their harmonic mean, `2 TP / (2 TP + FP + FN)`; NaN where the class
            occurs neither among labels nor among predictions.
        support: (C,) how many examples have this class.
        macro_f1: Mean of `f1` over the classes that have one: rare classes count as
            much as frequent ones.
    """

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray
    support: np.ndarray
    macro_f1: float


def predicted_classes(scores: Any) -> np.ndarray:
    """The class with the largest score of each row; `UNDECIDED` (-1) on a tie or NaN.

    It fits `accuracy`: an undecided row is right for no label.

    Args:
        scores: (n, C) logits or probabilities.

    Returns:
        (n,) integers.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.metrics import predicted_classes
        >>> scores = np.array([[0.1, 0.9], [0.5, 0.5], [np.nan, 0.5]])
        >>> predicted_classes(scores).tolist()
        [1, -1, -1]
    """
    scores = ops.convert_to_numpy(scores)
    require(
        scores.ndim == 2 and scores.shape[1] > 0,
        "`scores` must have the shape (n, classes).",
        shape=scores.shape,
    )
    largest = scores.max(axis=1, keepdims=True)
    decided = (scores == largest).sum(axis=1) == 1
    return np.where(decided, scores.argmax(axis=1), UNDECIDED)


def class_scores(labels: Any, predicted: Any, num_classes: int) -> ClassScores:
    """Precision, recall and F1 of each class, by scikit-learn.

    Args:
        labels: (n,) integers.
        predicted: (n,) integers, as of `predicted_classes`. An undecided example is a
            miss of its class and a false alarm of none.
        num_classes: C.

    Returns:
        `ClassScores`. Figures that would divide by 0 are NaN, not 0: a class that the
        test set lacks is not one the model fails at.

    Raises:
        ValueError: labels or predictions are no classes, or not equally many.
        ImportError: without scikit-learn, of the extra `image-classification`.

    Examples:
        >>> from keras_attention.metrics import class_scores
        >>> found = class_scores([0, 0, 1, 2], [0, 1, 1, -1], num_classes=3)
        >>> found.precision.tolist(), found.recall.tolist()
        ([1.0, 0.5, nan], [0.5, 1.0, 0.0])
    """
    labels, predicted = _checked(labels, predicted, num_classes)
    metrics = import_extra("sklearn.metrics", "image-classification")
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        labels, predicted, labels=range(num_classes), zero_division=np.nan
    )
    return ClassScores(precision, recall, f1, support, float(np.nanmean(f1)))


def confusion_matrix(labels: Any, predicted: Any, num_classes: int) -> np.ndarray:
    """How often examples of each class (row) were given each class (column).

    By scikit-learn. Undecided examples have no column: their rows sum to less than the
    class has examples.

    Args:
        labels: (n,) integers.
        predicted: (n,) integers, as of `predicted_classes`.
        num_classes: C.

    Returns:
        (C, C) counts, which `interpretation.plots.confusion_matrix` draws.

    Raises:
        ValueError: labels or predictions are no classes, or not equally many.
        ImportError: without scikit-learn, of the extra `image-classification`.

    Examples:
        >>> from keras_attention.metrics import confusion_matrix
        >>> confusion_matrix([0, 0, 1], [0, 1, 1], num_classes=2).tolist()
        [[1, 1], [0, 1]]
    """
    labels, predicted = _checked(labels, predicted, num_classes)
    metrics = import_extra("sklearn.metrics", "image-classification")
    return metrics.confusion_matrix(labels, predicted, labels=range(num_classes))


def _checked(labels, predicted, num_classes) -> tuple[np.ndarray, np.ndarray]:
    positive_integer("num_classes", num_classes)
    labels, predicted = ops.convert_to_numpy(labels), ops.convert_to_numpy(predicted)
    require(
        labels.ndim == 1 and labels.shape == predicted.shape and labels.size > 0,
        "`labels` and `predicted` must be (n,), as many of both, with n above 0.",
        labels=labels.shape,
        predicted=predicted.shape,
    )
    check_classes("labels", labels, num_classes)
    check_classes("predicted", predicted, num_classes, least=UNDECIDED)
    return labels, predicted
