"""Pictures of a classifier's mistakes, and of how far its confidence is to be had."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_attention.errors import require
from keras_attention.interpretation.plots._figure import (
    POINTS,
    labels,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from keras_attention.metrics import Calibration

MAX_WITH_NUMBERS = 25  # classes; numbers in more cells are too small to read
MAX_WITH_NAMES = 60  # classes; of more, some are named

_BAR, _BELOW, _ABOVE, _LINE = "#4c72b0", "#dd8452", "#a9c3e8", "#555555"


def confusion_matrix(
    counts: Any, class_names: Sequence[str], title: str | None = None
) -> "Figure":
    """Which classes are taken for which: rows are labels, columns predictions.

    Args:
        counts: `(C, C)`, as of `metrics.confusion_matrix`.
        class_names: The C classes.
        title: Above the picture.

    Returns:
        The figure. Colors are shares of the row, so rare classes show as clearly as
        frequent ones; numbers, up to `MAX_WITH_NUMBERS` classes, are counts.

    Raises:
        ValueError: for other shapes, or names that are not one a class.

    Examples:
        >>> from keras_attention.interpretation import plots
        >>> figure = plots.confusion_matrix([[8, 2], [1, 9]], ["cat", "dog"])
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['8', '2', '1', '9']
    """
    counts = np.asarray(counts)
    require(
        counts.ndim == 2
        and counts.shape[0] == counts.shape[1] == len(class_names)
        and len(class_names) > 0,
        "`counts` must have the shape (classes, classes), with one name a class.",
        shape=counts.shape,
        class_names=len(class_names),
    )
    C = len(counts)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    cell = float(np.clip(9 / C, 0.1, 0.5))
    names = labels(class_names)
    margin = 0.6 + 0.085 * max(len(name) for name in names)
    side = C * cell + margin
    figure = new_figure(max(side + 1.0, 4.0), max(side + 0.3, 3.4), title)
    axes = figure.subplots()
    image = axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    if C <= MAX_WITH_NUMBERS:
        _number(axes, counts, shares, points=min(POINTS - 1, 20 * cell))
    step = -(-C // MAX_WITH_NAMES)
    shown = range(0, C, step)
    text = {"fontsize": min(POINTS, 50 * cell * step), "parse_math": False}
    axes.set_yticks(shown, [names[i] for i in shown], **text)
    axes.set_xticks(shown, [names[i] for i in shown], rotation=90, **text)
    axes.tick_params(length=0)
    axes.set_ylabel("label", fontsize=POINTS)
    axes.set_xlabel("predicted", fontsize=POINTS)
    figure.colorbar(image, ax=axes, label="share of the row", aspect=30)
    return figure


def reliability_diagram(
    calibration: "Calibration", title: str | None = None
) -> "Figure":
    """How often a model is right where it is so sure, and how often it is that sure.

    Args:
        calibration: As of `metrics.calibration_error`.
        title: Above the picture.

    Returns:
        The figure. Above, how often the model is right at each confidence, and what is
        missing to it or beyond it: the gaps whose mean over the examples is the
        calibration error. Below, how many examples have each confidence.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import plots
        >>> from keras_attention.metrics import calibration_error
        >>> sure = calibration_error([0, 1], np.array([[0.9, 0.1], [0.9, 0.1]]))
        >>> figure = plots.reliability_diagram(sure)
        >>> [axes.get_ylabel() for axes in figure.axes]
        ['accuracy', 'examples']
    """
    from matplotlib.ticker import PercentFormatter

    edges, filled = calibration.edges, calibration.count > 0
    left, widths = edges[:-1][filled], np.diff(edges)[filled]
    right, said = calibration.accuracy[filled], calibration.confidence[filled]
    figure = new_figure(4.6, 5.4, title)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    bars = {"width": widths, "align": "edge", "edgecolor": "white", "linewidth": 0.8}
    agreed = np.minimum(right, said)
    above.bar(left, agreed, color=_BAR, **bars)
    for gap, color, name in (
        (said - agreed, _BELOW, "less often right than said"),
        (right - agreed, _ABOVE, "more often right than said"),
    ):
        above.bar(left, gap, bottom=agreed, color=color, label=name, **bars)
    above.plot(
        (0, 1), (0, 1), "--", color=_LINE, linewidth=1, label="right as often as said"
    )
    above.legend(loc="upper left", fontsize=POINTS - 2, frameon=False)
    above.set_title(
        f"expected calibration error {calibration.error:.4f}", fontsize=POINTS
    )
    above.set(ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
    shares = calibration.count[filled] / calibration.count.sum()
    below.bar(left, shares, color=_LINE, **bars)
    below.set(xlabel="confidence", ylabel="examples", ylim=(0, 1))
    below.yaxis.set_major_formatter(PercentFormatter(1))
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=POINTS - 2)
    return figure


def _number(axes, counts, shares, points: float) -> None:
    """The count in each cell, pale where it is 0."""
    for (row, column), count in np.ndenumerate(counts):
        dark = shares[row, column] > 0.5
        axes.text(
            column,
            row,
            f"{count:d}",
            fontsize=points,
            ha="center",
            va="center",
            color="white" if dark else ("black" if count else "#bbbbbb"),
        )
