"""Whether a classifier is right as often as it says."""

from typing import Any, NamedTuple

import numpy as np

from keras_attention.errors import positive_integer, require
from keras_attention.metrics.classification import predicted_classes
from keras_attention.metrics.top_k import check_labels


class Calibration(NamedTuple):
    """The calibration error and the bins it is the sum of.

    Attributes:
        error: `sum_m n_m / n * |accuracy_m - confidence_m|`, from 0 to 1.
        edges: (bins + 1,) where the bins begin and end; a confidence on an edge belongs
            to the bin below.
        count: (bins,) examples in each, n_m.
        accuracy: (bins,) share of them that are right; NaN in an empty bin.
        confidence: (bins,) mean of their largest probability; NaN in an empty bin.
    """

    error: float
    edges: np.ndarray
    count: np.ndarray
    accuracy: np.ndarray
    confidence: np.ndarray


def calibration_error(labels: Any, probabilities: Any, bins: int = 15) -> Calibration:
    """Expected calibration error: how far confidence and accuracy lie apart.

    Examples are sorted by their largest probability into bins of equal width. A model
    that says 0.8 should be right for 80 % of what it says so of. The figure depends on
    the number of bins and, over few examples, is too high: compare like with like.

    Args:
        labels: (n,) integers.
        probabilities: (n, C), rows that sum to 1. Of a row whose largest probability is
            shared no class is right, as in `accuracy`.
        bins: Number of bins; 15 as in the paper.

    Returns:
        A `Calibration`, which `interpretation.plots.reliability_diagram` draws.

    Raises:
        ValueError: the rows are no probabilities (NaN included), or the labels none of
            their classes.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.metrics import calibration_error
        >>> sure = np.array([[0.9, 0.1], [0.9, 0.1]])
        >>> round(calibration_error([0, 1], sure).error, 6)  # half right at 0.9
        0.4

    Source: Guo et al. 2017, "On calibration of modern neural networks",
    arXiv:1706.04599, equation 3.
    """
    labels, probabilities = check_labels(labels, probabilities)
    positive_integer("bins", bins)
    probabilities = probabilities.astype("float64")
    sums = probabilities.sum(axis=1)
    require(
        # Rows of half precision miss 1 by some thousandths.
        bool((probabilities >= 0).all() and (np.abs(sums - 1) < 0.01).all()),
        "`probabilities` must be in [0, 1] and sum to 1 in each row.",
        smallest=float(probabilities.min()),
        sums=(float(sums.min()), float(sums.max())),
    )
    right = predicted_classes(probabilities) == labels
    confidence = probabilities.max(axis=1)
    edges = np.linspace(0, 1, bins + 1)
    places = np.clip(np.searchsorted(edges, confidence) - 1, 0, bins - 1)
    count = np.bincount(places, minlength=bins)
    rights = np.bincount(places, weights=right, minlength=bins)
    confidences = np.bincount(places, weights=confidence, minlength=bins)
    error = float(np.abs(rights - confidences).sum() / len(labels))
    filled = np.where(count > 0, count, np.nan)
    return Calibration(error, edges, count, rights / filled, confidences / filled)
