"""How good the classes are: figures over the whole test split, beside baselines."""

import time
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from applications.classification import scores
from applications.image_classification.presets import ImageClassificationConfig
from applications.images.batches import ImageData
from applications.pipeline.finite import require_finite
from applications.pipeline.run import Run
from keras_attention import costs, metrics
from keras_attention.errors import import_extra


def evaluate(
    config: ImageClassificationConfig, data: ImageData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over the whole test split; draws the confusion and reliability pictures.

    The logits of all test images are written beside them.

    Raises:
        UserError: the model gives NaN.
    """
    labels, logits, rate = _logits(data, model)
    require_finite(run, logits, "images")
    scores.keep(run, config, labels=labels, logits=logits)
    scores.draw(run, labels, logits, data.class_names)
    cost = costs.report(model).total
    return {
        "images": len(labels),
        **scores.figures(labels, logits, data.class_names),
        **scores.top_five(labels, logits),
        **_baselines(data, labels, metrics.predicted_classes(logits)),
        "parameters": cost.parameters,
        "multiply_adds": cost.multiply_adds,
        "images_per_second": rate,
    }


def _logits(
    data: ImageData, model: keras.Model
) -> tuple[np.ndarray, np.ndarray, float]:
    """Labels `(n,)`, logits `(n, classes)` and the model's images a second."""
    labels, logits, taken = [], [], []
    for images, shares in data.evaluation_batches("test"):
        began = time.perf_counter()
        logits.append(model.predict_on_batch(images))
        taken.append(time.perf_counter() - began)
        labels.append(shares.numpy().argmax(axis=-1))
    # The first batch compiles the model, the last one may be smaller and do so again.
    counted = slice(1, -1) if len(taken) > 2 else slice(None)
    rate = sum(map(len, labels[counted])) / sum(taken[counted])
    return np.concatenate(labels), np.concatenate(logits), rate


# --------------------------------------------------------------------------- baselines


def _baselines(
    data: ImageData, labels: np.ndarray, predicted: np.ndarray
) -> dict[str, Any]:
    """Accuracy without a model, and how far above the better one the model is."""
    counts, means = _mean_images(data)
    nearest = _nearest(data, means, np.flatnonzero(counts))
    frequent = np.full_like(labels, counts.argmax())
    found = {"most_frequent_class": frequent, "nearest_mean_image": nearest}
    gap = scores.difference(labels, predicted, nearest)
    accuracies = {name: (one == labels).mean() for name, one in found.items()}
    return {"baselines": accuracies, "above_nearest_mean_image": gap._asdict()}


def _mean_images(data: ImageData) -> tuple[np.ndarray, np.ndarray]:
    """Training images of each class `(classes,)`, and the mean of those there are."""
    counts, sums = 0.0, 0.0
    for images, shares in _flat(data, "train"):
        counts = counts + shares.sum(axis=0)
        sums = sums + shares.T @ images
    there = counts > 0
    return counts, sums[there] / counts[there, None]


def _nearest(data: ImageData, means: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class of the nearest mean image for each test image."""
    distances = import_extra("sklearn.metrics", "image-classification")
    batches = [
        distances.pairwise_distances_argmin(images, means)
        for images, _ in _flat(data, "test")
    ]
    return classes[np.concatenate(batches)]


def _flat(data: ImageData, split: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Images as rows of pixels, and rows of class shares, batch by batch."""
    for images, shares in data.evaluation_batches(split):
        yield images.numpy().reshape(len(images), -1), shares.numpy()
