"""Accuracy and top-k accuracy that no constant and no NaN can win."""

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.errors import positive_integer, require

Tensor = Any


def top_k_hits(labels: Tensor, scores: Tensor, k: int = 1) -> Tensor:
    """Whether each label is among the k largest scores, however ties are broken.

    A label's rank counts itself and every class that is not clearly below it: equal
    scores rank before it and so do NaN ones. A label whose own score is NaN is no hit.
    For a classifier, which is to name a class: one that cannot decide is wrong.
    `ranks` takes the mean over the orders of what ties instead, for recommendation.

    Args:
        labels: (B,) integers.
        scores: (B, C) logits or probabilities; their order is all that counts.
        k: How many classes may be named.

    Returns:
        (B,) booleans: what `bootstrap_difference` needs of two systems.

    Examples:
        >>> from keras import ops
        >>> from keras_attention.metrics import top_k_hits
        >>> scores = ops.array([[0.1, 0.7, 0.2], [0.4, 0.4, 0.2]])
        >>> ops.convert_to_numpy(top_k_hits([1, 0], scores)).tolist()
        [True, False]
    """
    positive_integer("k", k)
    labels, scores = ops.cast(labels, "int32"), ops.convert_to_tensor(scores)
    own = ops.take_along_axis(scores, labels[:, None], axis=-1)
    below = ops.sum(ops.cast(scores < own, "int32"), axis=-1)
    rank = scores.shape[-1] - below
    return ops.logical_and(rank <= k, ops.logical_not(ops.isnan(own[:, 0])))


def top_k_accuracy(labels: Any, scores: Any, k: int = 5) -> float:
    """The share of labels among the k largest scores of a whole test set.

    Ties and NaN never count as hits, see `top_k_hits`: a model that gives every class
    the same score, or NaN, has 0 for every k below the number of classes. Keras's
    `SparseTopKCategoricalAccuracy` gives a constant model 1 on every backend and one of
    NaN 1 on JAX; its `SparseCategoricalAccuracy` takes the first of equal scores, and
    of NaN the first NaN, so such a model gets all images of class 0 right.

    Args:
        labels: (n,) integers.
        scores: (n, C) logits or probabilities.
        k: How many classes may be named.

    Returns:
        From 0 to 1.

    Raises:
        ValueError: the labels are no classes of the scores, or there are none.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.metrics import top_k_accuracy
        >>> top_k_accuracy([0, 1], np.array([[0.2, 0.5, 0.3], [0.2, 0.5, 0.3]]), k=2)
        0.5
    """
    labels, scores = check_labels(labels, scores)
    return float(ops.convert_to_numpy(top_k_hits(labels, scores, k)).mean())


def accuracy(labels: Any, scores: Any) -> float:
    """The share of labels with the one largest score: `top_k_accuracy` with `k=1`."""
    return top_k_accuracy(labels, scores, k=1)


def check_labels(labels: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels `(n,)` and scores `(n, C)` as arrays.

    Raises:
        ValueError: shapes do not fit, there are none, or a label is no class.
    """
    labels, scores = ops.convert_to_numpy(labels), ops.convert_to_numpy(scores)
    require(
        scores.ndim == 2 and labels.shape == scores.shape[:1] and labels.size > 0,
        "Labels must be (n,) and scores (n, classes), with n above 0.",
        labels=labels.shape,
        scores=scores.shape,
    )
    check_classes("labels", labels, scores.shape[1])
    return labels, scores


def check_classes(name: str, labels: np.ndarray, num_classes: int, least: int = 0):
    """Raise unless all labels are integers from `least` to `num_classes - 1`."""
    require(
        np.issubdtype(labels.dtype, np.integer)
        and bool((labels >= least).all() and (labels < num_classes).all()),
        f"`{name}` must be integers from {least} to {num_classes - 1}.",
        dtype=str(labels.dtype),
        smallest=labels.min().item(),
        largest=labels.max().item(),
    )


@keras.saving.register_keras_serializable(package="keras_attention")
class TopKAccuracy(keras.metrics.Mean):
    """The share of hits of `top_k_hits`, over the batches since the last reset.

    For `compile`. Beside Keras's own it differs where scores tie or are NaN: those are
    no hits on any backend.

    Shapes: `B` batch, `C` classes.

    Args:
        k: How many classes may be named.
        name: Name of the metric; by default `accuracy` for one and `top_k_accuracy`,
            with the number, for more.

    Call args:
        y_true: (B,) or (B, 1) integers, or (B, C): one-hot or mixed labels, of which
            the largest counts.
        y_pred: (B, C) logits or probabilities.
        sample_weight: (B,) or (B, 1); the mean is then weighted.

    Returns:
        `result` returns a float32 scalar.

    Examples:
        >>> from keras import ops
        >>> from keras_attention.metrics import TopKAccuracy
        >>> metric = TopKAccuracy()
        >>> metric.update_state([0, 1], ops.array([[0.9, 0.1], [0.5, 0.5]]))
        >>> metric.name, float(metric.result())
        ('accuracy', 0.5)
    """

    def __init__(self, k: int = 1, name: str | None = None) -> None:
        self.k = positive_integer("k", k)
        default = "accuracy" if k == 1 else f"top_{k}_accuracy"
        super().__init__(name=name or default, dtype="float32")

    def update_state(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> None:
        y_true, y_pred = map(ops.convert_to_tensor, (y_true, y_pred))
        if len(y_true.shape) == 2:
            one_column = y_true.shape[-1] == 1
            y_true = y_true[:, 0] if one_column else ops.argmax(y_true, axis=-1)
        if sample_weight is not None:
            sample_weight = ops.reshape(sample_weight, (-1,))
        super().update_state(top_k_hits(y_true, y_pred, self.k), sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {"k": self.k, "name": self.name}
