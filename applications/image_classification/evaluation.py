"""How good the classes are: figures over the whole test split, beside baselines."""

import time
from typing import Any

import keras
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from applications.image_classification.classifier import Classifier
from applications.image_classification.presets import ImageClassificationConfig
from applications.images.batches import ImageData
from applications.pipeline import files
from applications.pipeline.run import Run
from keras_attention import costs, metrics
from keras_attention.interpretation import plots

PREDICTIONS = "predictions.npz"
_TOP = 5


def evaluate(
    config: ImageClassificationConfig, data: ImageData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over the whole test split; draws the confusion and reliability pictures.

    The probabilities of all test images are written beside them.
    """
    images, labels = data.arrays("test")
    probabilities, rate = _timed(Classifier(model, data), images)
    predicted = metrics.predicted_classes(probabilities)
    if config == run.config(type(config)):  # else they are not those of the table
        with files.replacing(run.path(PREDICTIONS)) as path, open(path, "wb") as file:
            np.savez_compressed(file, labels=labels, probabilities=probabilities)
    calibration = metrics.calibration_error(labels, probabilities)
    counts = metrics.confusion_matrix(labels, predicted, data.num_classes)
    for name, figure in (
        ("confusion", plots.confusion_matrix(counts, data.class_names)),
        ("reliability", plots.reliability_diagram(calibration)),
    ):
        with files.replacing(run.path("figures", f"{name}.png")) as path:
            plots.save(figure, path)
    cost = costs.report(model).total
    top = min(_TOP, data.num_classes - 1)
    scores = metrics.class_scores(labels, predicted, data.num_classes)
    return {
        "images": len(images),
        "accuracy": metrics.accuracy(labels, probabilities),
        f"top_{top}_accuracy": metrics.top_k_accuracy(labels, probabilities, top),
        "macro_f1": scores.macro_f1,
        "calibration_error": calibration.error,
        "by_class": {
            name: {"precision": precision, "recall": recall, "f1": f1}
            for name, precision, recall, f1 in zip(
                data.class_names, scores.precision, scores.recall, scores.f1,
                strict=True,
            )
        },
        "baselines": _baselines(data, images, labels),
        "parameters": cost.parameters,
        "multiply_adds": cost.multiply_adds,
        "images_per_second": rate,
    }  # fmt: skip


def read_predictions(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Labels `(n,)` and probabilities `(n, classes)` of an evaluated run."""
    with np.load(run.path(PREDICTIONS)) as arrays:
        return arrays["labels"], arrays["probabilities"]


def _timed(classifier: Classifier, images: np.ndarray) -> tuple[np.ndarray, float]:
    """Probabilities, and images a second once the model is compiled."""
    classifier.probabilities(images[:1])
    began = time.perf_counter()
    probabilities = classifier.probabilities(images)
    return probabilities, len(images) / (time.perf_counter() - began)


def _baselines(
    data: ImageData, images: np.ndarray, labels: np.ndarray
) -> dict[str, float]:
    """Accuracy without a model: the most frequent class, the nearest mean image."""
    known, classes = data.arrays("train")
    there = np.unique(classes)
    means = np.stack([_flat(known[classes == one]).mean(axis=0) for one in there])
    nearest = KNeighborsClassifier(1).fit(means, there)
    frequent = np.bincount(classes).argmax()
    return {
        "most_frequent_class": float((labels == frequent).mean()),
        "nearest_mean_image": float((nearest.predict(_flat(images)) == labels).mean()),
    }


def _flat(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1).astype("float32")
