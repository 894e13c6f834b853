"""How well a classifier ranks, whatever its threshold."""

from typing import Any

import numpy as np

from keras_attention.errors import import_extra, require
from keras_attention.metrics.top_k import check_labels


def roc_auc(labels: Any, scores: Any) -> float:
    """Area under the receiver operating characteristic, by scikit-learn.

    The chance that an example of a class gets a higher score for it than one of another
    class, ties half: 0.5 for a constant, whatever the threshold and how frequent the
    classes are. Of more than two classes it is the mean over each against the rest.

    Args:
        labels: (n,) integers.
        scores: (n, C) probabilities, or for two classes logits as well.

    Returns:
        From 0 to 1; NaN where a class has all of the examples or, of more than two,
        none.

    Raises:
        ValueError: the labels are no classes of the scores, there are none, or a score
            is not finite.
        ImportError: without scikit-learn, of the extra `text-classification`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.metrics import roc_auc
        >>> scores = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]])
        >>> roc_auc([0, 1, 1], scores)
        1.0
    """
    labels, scores = check_labels(labels, scores)
    num_classes = scores.shape[1]
    require(num_classes > 1, "`scores` must be of two classes or more.")
    require(bool(np.isfinite(scores).all()), "`scores` must be finite.")
    counts = np.bincount(labels, minlength=num_classes)
    if (counts == len(labels)).any() or (counts == 0).any():
        return float("nan")
    metrics = import_extra("sklearn.metrics", "text-classification")
    if num_classes == 2:
        return float(metrics.roc_auc_score(labels, scores[:, 1] - scores[:, 0]))
    areas = [
        metrics.roc_auc_score(labels == label, scores[:, label])
        for label in range(num_classes)
    ]
    return float(np.mean(areas))
