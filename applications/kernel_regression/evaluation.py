"""How far the curve is from points that were held out."""

from typing import Any

import numpy as np

from applications.kernel_regression.baselines import (
    cross_validated_bandwidth,
    mean_squared_error,
    nadaraya_watson,
)
from applications.kernel_regression.data import Points
from keras_attention import models


def predicted(model: models.AttentionRegressor, x: np.ndarray) -> np.ndarray:
    """The values at `x` `(T,)`."""
    return np.asarray(model(_column(x), training=False))[:, 0].astype(float)


def leave_one_out(model: models.AttentionRegressor, points: Points) -> float:
    """Mean squared error of each known point from the others."""
    found = np.asarray(model(_column(points.x), training=True))[:, 0]
    return mean_squared_error(found, points.y)


def evaluate(
    model: models.AttentionRegressor, points: Points, bandwidth: float
) -> dict[str, Any]:
    """Mean squared error over all points asked for, beside what needs no training.

    Args:
        model: The run's best model.
        points: Those asked for are the test.
        bandwidth: Of the fixed kernel beside it. The other kernel beside it takes the
            bandwidth that the known points choose by leave-one-out.
    """
    error = mean_squared_error(predicted(model, points.test_x), points.test_y)
    mean = mean_squared_error(points.y.mean(), points.test_y)
    learned = model.bandwidth
    chosen = cross_validated_bandwidth(points.x, points.y)
    return {
        "points": len(points.test_x),
        "mse": error,
        "share_of_mean": error / mean if mean else float("nan"),
        "leave_one_out": leave_one_out(model, points),
        **({} if learned is None else {"bandwidth": learned}),
        "baselines": {
            "mean": {"mse": mean},
            "fixed_kernel": _kernel(points, bandwidth),
            "cross_validated_kernel": _kernel(points, chosen),
        },
        "parameters": sum(int(np.prod(w.shape)) for w in model.trainable_weights),
    }


def _kernel(points: Points, bandwidth: float) -> dict[str, float]:
    found, _ = nadaraya_watson(points.test_x, points.x, points.y, bandwidth)
    error = mean_squared_error(found, points.test_y)
    return {"bandwidth": bandwidth, "mse": error}


def _column(x: np.ndarray) -> np.ndarray:
    return np.asarray(x, "float32")[:, None]
