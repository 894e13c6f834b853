"""A picture of how alike the positions of an image are."""

from typing import TYPE_CHECKING, Any

import numpy as np

from keras_attention.errors import require
from keras_attention.interpretation.plots._figure import POINTS, as_array, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIDE = 6.0  # inches of the longer side
_GAP = 1  # cells between two maps


def position_similarity(similarity: Any, title: str | None = None) -> "Figure":
    """A small map for each position: how alike it is to every other.

    The map at row i and column j is that of position i, j; its own cell is 1. Near
    positions alike make a bright spot that wanders from map to map, rows and columns
    alike make a cross.

    Args:
        similarity: `(h, w, h, w)`, in [-1, 1], as of
            `interpretation.position_similarity`.
        title: Above the picture.

    Returns:
        The figure. Colors always go from -1 to 1.

    Raises:
        ValueError: for another shape.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import plots, position_similarity
        >>> table = np.random.default_rng(0).normal(size=(6, 4))
        >>> figure = plots.position_similarity(position_similarity(table, (2, 3)))
        >>> figure.axes[0].get_xlabel()
        'column of the position'
    """
    similarity = as_array(similarity)
    require(
        similarity.ndim == 4
        and similarity.shape[:2] == similarity.shape[2:]
        and similarity.size > 0,
        "`similarity` must have the shape (h, w, h, w).",
        shape=similarity.shape,
    )
    height, width = similarity.shape[:2]
    tiles = _side_by_side(similarity)
    inch = _SIDE / max(tiles.shape)
    size = (tiles.shape[1] * inch + 1.6, tiles.shape[0] * inch + 0.8)
    figure = new_figure(max(size[0], 3.5), size[1], title)
    axes = figure.subplots()
    image = axes.imshow(tiles, vmin=-1, vmax=1, cmap="viridis", interpolation="nearest")
    for axis, count in ((axes.yaxis, height), (axes.xaxis, width)):
        middles = [i * (count + _GAP) + (count - 1) / 2 for i in range(count)]
        axis.set_ticks(middles, range(count), fontsize=POINTS - 2)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_ylabel("row of the position", fontsize=POINTS)
    axes.set_xlabel("column of the position", fontsize=POINTS)
    figure.colorbar(image, ax=axes, label="cosine similarity", aspect=30)
    return figure


def _side_by_side(similarity: np.ndarray) -> np.ndarray:
    """All maps in one, `_GAP` empty cells between them: one image draws at once."""
    height, width = similarity.shape[:2]
    padded = np.pad(
        similarity,
        ((0, 0), (0, 0), (0, _GAP), (0, _GAP)),
        constant_values=np.nan,
    )
    rows, columns = height * (height + _GAP), width * (width + _GAP)
    tiles = padded.transpose(0, 2, 1, 3).reshape(rows, columns)
    return tiles[:-_GAP, :-_GAP]
