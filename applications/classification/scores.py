"""What the logits of a whole test split say: figures, pictures and differences."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from applications.pipeline import files
from applications.pipeline.figures import save
from applications.pipeline.run import Run
from keras_attention import metrics
from keras_attention.interpretation import plots

PREDICTIONS = "predictions.npz"

_TOP = 5
_Z = 1.96  # of a normal distribution, 95 % lie between -z and z


def figures(
    labels: np.ndarray, logits: np.ndarray, class_names: Sequence[str]
) -> dict[str, Any]:
    """Accuracy, macro F1, calibration error, and the scores of each class."""
    predicted = metrics.predicted_classes(logits)
    scores = metrics.class_scores(labels, predicted, len(class_names))
    rows = zip(class_names, scores.precision, scores.recall, scores.f1, strict=True)
    return {
        "accuracy": metrics.accuracy(labels, logits),
        "macro_f1": scores.macro_f1,
        "calibration_error": calibration(labels, logits).error,
        "by_class": {
            name: {"precision": precision, "recall": recall, "f1": f1}
            for name, precision, recall, f1 in rows
        },
    }


def top_five(labels: np.ndarray, logits: np.ndarray) -> dict[str, float]:
    """Accuracy with five guesses, where there are more classes."""
    if logits.shape[1] <= _TOP:
        return {}
    return {f"top_{_TOP}_accuracy": metrics.top_k_accuracy(labels, logits, _TOP)}


def accuracy_interval(hits: np.ndarray) -> dict[str, float]:
    """The 95 % interval of accuracy over tests of so many examples: Wilson's score.

    Unlike resampling it is no point where all are right, so it serves small tests.

    Args:
        hits: Whether each example is right, `(n,)`.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical
    inference".
    """
    count, share = len(hits), float(np.mean(hits))
    middle = share + _Z**2 / (2 * count)
    half = _Z * np.sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2)
    low, high = (
        float(np.clip(bound / (1 + _Z**2 / count), 0, 1))
        for bound in (middle - half, middle + half)
    )
    return {"low": low, "high": high}


def calibration(labels: np.ndarray, logits: np.ndarray) -> metrics.Calibration:
    """Whether the model is right as often as it says."""
    return metrics.calibration_error(labels, _probabilities(logits))


def roc_auc(labels: np.ndarray, logits: np.ndarray) -> float:
    """How well the probabilities rank; logits of one class cannot be compared."""
    return metrics.roc_auc(labels, _probabilities(logits))


def draw(
    run: Run, labels: np.ndarray, logits: np.ndarray, class_names: Sequence[str]
) -> None:
    """Draw the confusion matrix and the reliability diagram into the run."""
    predicted = metrics.predicted_classes(logits)
    counts = metrics.confusion_matrix(labels, predicted, len(class_names))
    save(run, "confusion", plots.confusion_matrix(counts, class_names))
    diagram = plots.reliability_diagram(calibration(labels, logits))
    save(run, "reliability", diagram)


def keep(run: Run, config: Any, **arrays: np.ndarray) -> None:
    """Write predictions into the run, if they are those of its own settings."""
    if config == run.config(type(config)):  # else they are not those of the table
        with files.replacing(run.path(PREDICTIONS)) as path, open(path, "wb") as file:
            np.savez_compressed(file, **arrays)


def difference(
    labels: np.ndarray, first: np.ndarray, second: np.ndarray
) -> metrics.Difference:
    """Accuracy of the first predictions minus that of the second, with its interval.

    Args:
        labels: `(n,)`.
        first: Predicted classes `(n,)`.
        second: The same of another system.
    """
    return difference_of_hits(first == labels, second == labels)


def difference_of_hits(first: np.ndarray, second: np.ndarray) -> metrics.Difference:
    """The same from how far each example is right, `(n,)` from 0 to 1."""
    pairs = (np.stack([x, np.ones(len(x))], axis=1) for x in (first, second))
    return metrics.bootstrap_difference(*pairs, lambda sums: sums[0] / sums[1])


def _probabilities(logits: np.ndarray) -> np.ndarray:
    """`(n, C)` float64, in which two that are nearly sure differ still."""
    return tf.nn.softmax(logits.astype("float64")).numpy()
