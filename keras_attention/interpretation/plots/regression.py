"""Pictures of a function of one number that attention takes from known points."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from keras_attention.errors import require
from keras_attention.interpretation.plots._figure import POINTS, as_array, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLORS = ("#c44e52", "#4c72b0", "#55a868", "#8172b3", "#937860")
_DOTS = "#999999"


class Fit(NamedTuple):
    """A curve, and how it came to one of its values.

    Attributes:
        curve: `(T,)`, at the places the picture names.
        weights: `(S,)`, of the known points for one query.
    """

    curve: Any
    weights: Any


def regression_curves(
    x: Any, curves: Mapping[str, Any], known: tuple[Any, Any], title: str | None = None
) -> "Figure":
    """Curves over the points they come from.

    Args:
        x: `(T,)`, ascending.
        curves: By name: `(T,)`.
        known: x and y of the points, each `(S,)`.
        title: Above the picture.

    Returns:
        The figure.

    Raises:
        ValueError: without curves, or for other shapes.

    Examples:
        >>> from keras_attention.interpretation import plots
        >>> figure = plots.regression_curves([0, 1], {"kernel": [2, 3]}, ([0.5], [2.4]))
        >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        ['known points', 'kernel']
    """
    x, known = as_array(x), _points(known)
    require(len(curves) > 0, "There must be at least one curve.")
    figure = new_figure(7.0, 4.0, title)
    axes = figure.subplots()
    _draw_points(axes, known)
    for index, (name, curve) in enumerate(curves.items()):
        _draw_curve(axes, x, curve, _COLORS[index % len(_COLORS)], name)
    axes.legend(fontsize=POINTS - 1, frameon=False)
    axes.set(xlabel="x", ylabel="y")
    return figure


def weighted_fits(
    x: Any,
    fits: Mapping[str, Fit],
    known: tuple[Any, Any],
    query: float,
    title: str | None = None,
) -> "Figure":
    """Curves, and the weights that the known points have for one query, as bars.

    One fit has its bars at its side; several stand side by side, bars below, so that
    they show what a bandwidth does.

    Args:
        x: `(T,)`, ascending.
        fits: By name: the curve at `x` and the weights.
        known: x and y of the points, each `(S,)`.
        query: The x that was asked for.
        title: Above the picture.

    Returns:
        The figure; `figure.axes` are the curves, then the bars, in order. Bars have one
        scale for all fits.

    Raises:
        ValueError: without fits, for other shapes, or weights outside [0, 1].
    """
    x, known = as_array(x), _points(known)
    require(len(fits) > 0, "There must be at least one fit.")
    weights = [_weights(fit.weights, len(known[0])) for fit in fits.values()]
    beside = len(fits) == 1
    rows, columns = (1, 2) if beside else (2, len(fits))
    size = (9.0, 3.6) if beside else (3.2 * len(fits), 5.2)
    figure = new_figure(*size, title)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    tallest = max(float(row.max()) for row in weights)
    for axes, (name, fit) in zip(grid, fits.items(), strict=False):
        _draw_points(axes, known)
        _draw_curve(axes, x, fit.curve, _COLORS[0], name)
        axes.axvline(query, color="black", linewidth=0.8, linestyle=":")
        axes.set_title(name, fontsize=POINTS, parse_math=False)
    for axes, row in zip(grid[len(fits) :], weights, strict=True):
        _draw_bars(axes, known[0], row, query)
        axes.set_ylim(0, 1.05 * tallest)
        axes.set_xlabel("x of the known points", fontsize=POINTS)
    grid[0].set_ylabel("y", fontsize=POINTS)
    grid[len(fits)].set_ylabel(f"weight for x = {query:g}", fontsize=POINTS)
    return figure


def weight_map(
    queries: Any, keys: Any, scores: Any, title: str | None = None
) -> "Figure":
    """The weights of all known points for all queries.

    A bright diagonal is attention to near points; as wide as it is, so wide is the
    kernel there.

    Args:
        queries: `(T,)`, ascending.
        keys: x of the known points `(S,)`, in any order: they are sorted here.
        scores: `(T, S)`, in [0, 1].
        title: Above the picture.

    Returns:
        The figure. Rows are queries by their number, columns points by theirs, both
        from the smallest x; colors go from 0 to the largest weight.

    Raises:
        ValueError: for other shapes, or weights outside [0, 1].
    """
    queries, keys, scores = as_array(queries), as_array(keys), as_array(scores)
    require(
        scores.shape == (*queries.shape, *keys.shape) and scores.size > 0,
        "`scores` must be one number for each query and key.",
        scores=scores.shape,
        queries=queries.shape,
        keys=keys.shape,
    )
    _weights(scores.ravel(), scores.size)
    order = np.argsort(keys, kind="stable")
    figure = new_figure(6.0, 4.6, title)
    axes = figure.subplots()
    image = axes.imshow(
        scores[:, order],
        vmin=0,
        cmap="viridis",
        aspect="auto",
        origin="lower",
        interpolation="nearest",
    )
    for axis, places in ((axes.xaxis, keys[order]), (axes.yaxis, queries)):
        ticks = np.unique(np.linspace(0, len(places) - 1, 5).astype(int))
        axis.set_ticks(ticks, [f"{places[tick]:.4g}" for tick in ticks])
    axes.set(xlabel="x of the known points, in order", ylabel="x of the query")
    figure.colorbar(image, ax=axes, label="attention weight", aspect=30)
    return figure


# ------------------------------------------------------------------------- the drawing


def _points(known: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    x, y = map(as_array, known)
    require(
        x.ndim == 1 and x.shape == y.shape and x.size > 0,
        "`known` must be x and y of the points, each of the shape (S,).",
        x=x.shape,
        y=y.shape,
    )
    return x, y


def _weights(weights: Any, count: int) -> np.ndarray:
    weights = as_array(weights)
    require(weights.shape == (count,), "Weights must be one a point.", points=count)
    low, high = float(weights.min()), float(weights.max())
    require(
        low >= 0 and high <= 1.01, "Weights must be in [0, 1].", smallest=low,
        largest=high,
    )  # fmt: skip
    return weights


def _draw_points(axes, known: tuple[np.ndarray, np.ndarray]) -> None:
    axes.plot(*known, ".", color=_DOTS, markersize=4, label="known points")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_curve(axes, x: np.ndarray, curve: Any, color: str, name: str) -> None:
    curve = as_array(curve)
    require(
        curve.shape == x.shape and x.ndim == 1,
        f"The curve {name!r} must have one number for each x.",
        curve=curve.shape,
        x=x.shape,
    )
    axes.plot(x, curve, color=color, linewidth=1.5, label=name)


def _draw_bars(axes, x: np.ndarray, weights: np.ndarray, query: float) -> None:
    width = (float(x.max() - x.min()) or 1.0) / 120
    axes.bar(x, weights, width=width, color=_COLORS[1], linewidth=0)
    axes.axvline(query, color="black", linewidth=0.8, linestyle=":")
    axes.spines[["top", "right"]].set_visible(False)
