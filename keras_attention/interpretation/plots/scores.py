"""Pictures of attention scores between tokens: one head, or each in its panel."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_attention.errors import require
from keras_attention.interpretation.plots._figure import (
    POINTS,
    as_array,
    labels,
    layout,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Beyond this a token is too small to read; the picture says what it leaves out.
MAX_TOKENS = 60

# Inches. A cell shrinks with the number of tokens, then the figure grows.
_PANEL, _PANEL_OF_MANY = 6.5, 3.2
_CELL_MIN, _CELL_MAX = 0.17, 0.45
_COLOR_BAR = 0.9


def heatmap(
    scores: Any,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    title: str | None = None,
) -> "Figure":
    """Scores of one head as a grid: which row (query) attends to which column (key).

    Args:
        scores: `(T, S)`, in [0, 1]; an array or a tensor.
        row_labels: The T attending tokens.
        column_labels: The S attended tokens.
        title: Above the picture.

    Returns:
        The figure, to be given to `save` or shown in a notebook. Colors always go from
        0 to 1, so two pictures can be compared. Of more than `MAX_TOKENS` tokens the
        first are shown, and a line says so.

    Raises:
        ValueError: for scores of another shape or outside [0, 1], or labels that are
            not one a token.

    Examples:
        >>> from keras_attention.interpretation import plots
        >>> figure = plots.heatmap(
        ...     [[0.9, 0.1], [0.2, 0.8]], ["das", "Haus"], ["the", "house"]
        ... )
        >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
        ['the', 'house']
    """
    scores = _checked(scores, 2, row_labels, column_labels)
    return _draw([("", scores)], row_labels, column_labels, title)


def head_panels(
    scores: Any,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    title: str | None = None,
    show_mean: bool = False,
) -> "Figure":
    """Scores of several heads, each in a panel of its own.

    Heads do different work, which their mean hides: it is shown only beside them.

    Args:
        scores: `(N, T, S)`, in [0, 1].
        row_labels: The T attending tokens.
        column_labels: The S attended tokens.
        title: Above the panels.
        show_mean: Whether a last panel shows the mean of the heads.

    Returns:
        The figure, as from `heatmap`; `figure.axes` are the panels in order, then the
        color bar they share.

    Raises:
        ValueError: as `heatmap`.
    """
    scores = _checked(scores, 3, row_labels, column_labels)
    panels = [(f"head {index}", head) for index, head in enumerate(scores)]
    if show_mean:
        panels.append((f"mean of {len(scores)} heads", scores.mean(axis=0)))
    return _draw(panels, row_labels, column_labels, title)


# ----------------------------------------------------------------------- the drawing


def _checked(scores, rank, row_labels, column_labels) -> np.ndarray:
    scores = as_array(scores)
    letters = "(N, T, S)" if rank == 3 else "(T, S)"
    require(
        scores.ndim == rank and scores.size > 0,
        f"`scores` must have the shape {letters}, none of them 0.",
        shape=scores.shape,
    )
    require(
        scores.shape[-2:] == (len(row_labels), len(column_labels)),
        "`row_labels` and `column_labels` must be one a token.",
        row_labels=len(row_labels),
        column_labels=len(column_labels),
        shape=scores.shape,
    )
    # Half precision rounds a little above 1.
    low, high = float(scores.min()), float(scores.max())
    require(
        low >= 0 and high <= 1.01,
        "`scores` must be weights after the softmax, in [0, 1].",
        smallest=low,
        largest=high,
    )
    return scores


def _draw(panels, row_labels, column_labels, title) -> "Figure":
    rows, columns = layout(len(panels))
    row_labels, rows_cut = _shorten(row_labels, "attending")
    column_labels, columns_cut = _shorten(column_labels, "attended")
    T, S = len(row_labels), len(column_labels)
    inches = _PANEL if len(panels) == 1 else _PANEL_OF_MANY
    cell = float(np.clip(inches / max(T, S), _CELL_MIN, _CELL_MAX))
    points = min(POINTS, 0.7 * 72 * cell)
    heading = "\n".join(line for line in (title, rows_cut, columns_cut) if line)
    # Text stands upright, some 0.6 of its size wide.
    margin = [
        0.5 + 0.6 / 72 * points * max(len(text) for text in side)
        for side in (row_labels, column_labels)
    ]
    width = columns * (S * cell + 0.2) + margin[0] + _COLOR_BAR
    height = rows * (T * cell + 0.4) + margin[1] + 0.25 * len(heading.splitlines())
    figure = new_figure(max(width, 3.5), height, heading)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for index, (axes, (name, scores)) in enumerate(zip(grid, panels, strict=False)):
        image = axes.imshow(scores[:T, :S], vmin=0, vmax=1, cmap="viridis")
        axes.set_title(name, fontsize=POINTS)
        left, lowest = index % columns == 0, index + columns >= len(panels)
        _label_ticks(axes, row_labels * left, column_labels * lowest, points)
    for axes in grid[len(panels) :]:
        axes.remove()
    shown = list(grid[: len(panels)])
    figure.colorbar(image, ax=shown, label="attention weight", aspect=30)
    figure.supylabel("attending token", fontsize=POINTS)
    figure.supxlabel("attended token", fontsize=POINTS)
    return figure


def _label_ticks(axes, row_labels, column_labels, points) -> None:
    # `parse_math=False`: a token may hold dollar signs.
    text = {"fontsize": points, "parse_math": False}
    axes.set_yticks(range(len(row_labels)), row_labels, **text)
    axes.set_xticks(range(len(column_labels)), column_labels, rotation=90, **text)
    axes.tick_params(length=0)


def _shorten(tokens: Sequence[str], role: str) -> tuple[list[str], str]:
    """The labels that are shown, and a line on those that are not."""
    shown = labels(tokens[:MAX_TOKENS])
    if len(tokens) <= MAX_TOKENS:
        return shown, ""
    return shown, f"the first {MAX_TOKENS} of {len(tokens)} {role} tokens"
