"""Pictures of attention scores, as Matplotlib figures without global state.

Matplotlib is imported when the first picture is made. Figures are of the object
interface (no `pyplot`), so they can be made in any thread and on machines without a
display. Tokens are written in Matplotlib's own font, which has Latin, Greek and
Cyrillic letters.

What a picture shows are softmax weights: shares of a row, not amounts. A bright cell
says where a head read, not that the output depends on it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from keras_attention.errors import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Beyond this a token is too small to read; the picture says what it leaves out.
MAX_TOKENS = 60
MAX_LABEL = 18  # characters of one token

# Inches. A cell shrinks with the number of tokens, then the figure grows.
_PANEL, _PANEL_OF_MANY = 6.5, 3.2
_CELL_MIN, _CELL_MAX = 0.17, 0.45
_POINTS_MAX = 10
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


def save(figure: "Figure", path: str | Path) -> Path:
    """Write a figure to `path`, its suffix the format, making folders as needed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


# ----------------------------------------------------------------------- the drawing


def _checked(scores, rank, row_labels, column_labels) -> np.ndarray:
    scores = keras.ops.convert_to_numpy(scores).astype("float32")
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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, columns = _layout(len(panels))
    row_labels, rows_cut = _shorten(row_labels, "attending")
    column_labels, columns_cut = _shorten(column_labels, "attended")
    T, S = len(row_labels), len(column_labels)
    inches = _PANEL if len(panels) == 1 else _PANEL_OF_MANY
    cell = float(np.clip(inches / max(T, S), _CELL_MIN, _CELL_MAX))
    points = min(_POINTS_MAX, 0.7 * 72 * cell)
    heading = "\n".join(line for line in (title, rows_cut, columns_cut) if line)
    # Text stands upright, some 0.6 of its size wide.
    margin = [
        0.5 + 0.6 / 72 * points * max(len(label) for label in labels)
        for labels in (row_labels, column_labels)
    ]
    width = columns * (S * cell + 0.2) + margin[0] + _COLOR_BAR
    height = rows * (T * cell + 0.4) + margin[1] + 0.25 * len(heading.splitlines())
    figure = Figure(figsize=(max(width, 3.5), height), layout="compressed")
    FigureCanvasAgg(figure)
    if heading:
        figure.suptitle(heading, fontsize=_POINTS_MAX + 1, parse_math=False)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for index, (axes, (name, scores)) in enumerate(zip(grid, panels, strict=False)):
        image = axes.imshow(scores[:T, :S], vmin=0, vmax=1, cmap="viridis")
        axes.set_title(name, fontsize=_POINTS_MAX)
        left, lowest = index % columns == 0, index + columns >= len(panels)
        _label_ticks(axes, row_labels * left, column_labels * lowest, points)
    for axes in grid[len(panels) :]:
        axes.remove()
    shown = list(grid[: len(panels)])
    figure.colorbar(image, ax=shown, label="attention weight", aspect=30)
    figure.supylabel("attending token", fontsize=_POINTS_MAX)
    figure.supxlabel("attended token", fontsize=_POINTS_MAX)
    return figure


def _label_ticks(axes, row_labels, column_labels, points) -> None:
    # `parse_math=False`: a token may hold dollar signs.
    text = {"fontsize": points, "parse_math": False}
    axes.set_yticks(range(len(row_labels)), row_labels, **text)
    axes.set_xticks(range(len(column_labels)), column_labels, rotation=90, **text)
    axes.tick_params(length=0)


def _layout(panels: int) -> tuple[int, int]:
    """Rows and columns, wide rather than high, with few places left empty."""
    if panels <= 3:
        return 1, panels
    columns = 2 if panels == 4 else min((4, 3), key=lambda width: -panels % width)
    return -(-panels // columns), columns


def _shorten(labels: Sequence[str], role: str) -> tuple[list[str], str]:
    """The labels that are shown, and a line on those that are not."""
    shown = [_label(label) for label in labels[:MAX_TOKENS]]
    if len(labels) <= MAX_TOKENS:
        return shown, ""
    return shown, f"the first {MAX_TOKENS} of {len(labels)} {role} tokens"


def _label(token: str) -> str:
    """A token on one line: control characters escaped, the end of a long one cut."""
    token = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(token))
    return token if len(token) <= MAX_LABEL else token[: MAX_LABEL - 1] + "…"
