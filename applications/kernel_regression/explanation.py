"""Pictures of a curve, of the weights behind it, and of what a bandwidth does."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from applications.errors import UserError
from applications.kernel_regression.baselines import (
    cross_validated_bandwidth,
    mean_squared_error,
    nadaraya_watson,
)
from applications.kernel_regression.data import Points
from applications.kernel_regression.evaluation import predicted
from applications.pipeline import files
from applications.pipeline.run import Run
from keras_attention import interpretation, models
from keras_attention.interpretation import plots

_MOST = 24  # queries of the user's own
_PLACES = 400  # of a curve
_SWEEP = (0.1, 0.5, 1.0, 4.0, 40.0)  # times the bandwidth

Drawing = tuple[str, Any]  # name of the file, figure


def explain(
    model: models.AttentionRegressor,
    points: Points,
    bandwidth: float,
    run: Run,
    queries: Sequence[float],
) -> list[Path]:
    """Draw the curve, the weights of queries, all weights, and a bandwidth sweep.

    Args:
        model: The run's best model.
        points: Known and asked for.
        bandwidth: Of the fixed kernel, and the middle of the sweep.
        run: Where the figures go.
        queries: x of the user's own; by default a quarter into the range.
    """
    if len(queries) > _MOST:
        raise UserError(f"Give {_MOST} queries at most. Received: {len(queries)}.")
    low, high = float(points.x.min()), float(points.x.max())
    asked = list(queries) or [float(f"{low + 0.25 * (high - low):.4g}")]
    ends = min(low, *asked), max(high, *asked)
    grid = np.linspace(*ends, _PLACES)
    figures = []
    for name, figure in _drawn(model, points, bandwidth, grid, asked):
        path = run.path("figures", f"{name}.png")
        with files.replacing(path) as temporary:
            plots.save(figure, temporary)
        figures.append(path)
    return figures


def _drawn(model, points, bandwidth, grid, asked) -> Iterator[Drawing]:
    known = points.x, points.y
    curve = predicted(model, grid)
    yield (
        "fit",
        plots.regression_curves(
            grid, _curves(model.kind, curve, points, bandwidth, grid), known
        ),
    )
    weights = _weights(model, np.array(asked))
    for name, query, row in zip(_names(asked), asked, weights, strict=True):
        fit = {model.kind: plots.Fit(curve, row)}
        yield name, plots.weighted_fits(grid, fit, known, query)
    inside = grid[(grid >= points.x.min()) & (grid <= points.x.max())][::2]
    yield "weights", plots.weight_map(inside, points.x, _weights(model, inside))
    yield "bandwidths", _sweep(points, bandwidth, grid, asked[0])


def _curves(kind, curve, points, bandwidth, grid) -> dict[str, np.ndarray]:
    """The model's, those of two kernels, and the function itself where it is known."""
    chosen = cross_validated_bandwidth(points.x, points.y)
    curves = {kind: curve}
    for name, width in (("fixed", bandwidth), ("cross-validated", chosen)):
        found, _ = nadaraya_watson(grid, points.x, points.y, width)
        curves[f"{name}, bandwidth {width:.3g}"] = found
    if points.source.curve is not None:
        curves["function without noise"] = points.source.curve(grid)
    return curves


def _sweep(points: Points, bandwidth: float, grid: np.ndarray, query: float):
    """From following single points to the mean of all, by the library's layer."""
    fits = {}
    for factor in _SWEEP:
        model = models.AttentionRegressor(len(points.x), "fixed", factor * bandwidth)
        model.remember(points.x, points.y)
        error = mean_squared_error(predicted(model, points.test_x), points.test_y)
        name = f"bandwidth {factor * bandwidth:.3g}, test MSE {error:.3g}"
        (row,) = _weights(model, np.array([query]))
        fits[name] = plots.Fit(predicted(model, grid), row)
    return plots.weighted_fits(grid, fits, (points.x, points.y), query)


def _weights(model: models.AttentionRegressor, queries: np.ndarray) -> np.ndarray:
    """Of all known points, `(T, S)`."""
    record = interpretation.capture(model, queries.astype("float32")[:, None])
    return record.numpy("attention")[0]


def _names(asked: Sequence[float]) -> list[str]:
    return files.names_after(
        [f"query {query:g}".replace("-", "minus ") for query in asked]
    )
