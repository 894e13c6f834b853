"""A sound and, under it, what each moment of it is given."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_attention.errors import require
from keras_attention.interpretation.plots._figure import (
    POINTS,
    as_array,
    label,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 7.0  # inches
_ABOVE, _MEASURE = 2.0, 1.1  # of the spectrogram's height, and of a measure's
_LONGEST_NAME = 60


def attended_spectrogram(
    frames: Any,
    measures: Mapping[str, Any],
    title: str | None = None,
    seconds: float | None = None,
    band_name: str = "mel band",
) -> "Figure":
    """A spectrogram, and below it measures of its frames on the same axis of time.

    Every measure has its own scale: compare moments within a panel, and which moments
    stand out between panels. One with both signs is drawn about 0.

    Args:
        frames: `(T, F)`, the lowest band first.
        measures: By name: `(T,)` numbers, or `(N, T)`, a line for each of N heads.
        title: Above the picture.
        seconds: From one frame to the next; without, the axis counts frames.
        band_name: What the numbers of a frame are.

    Returns:
        The figure; `figure.axes` are the spectrogram and the measures in order.

    Raises:
        ValueError: for frames of another shape, or measures that are not one finite
            number a frame.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import plots
        >>> figure = plots.attended_spectrogram(
        ...     np.zeros((4, 3)), {"attention": [0.1, 0.7, 0.1, 0.1]}, seconds=0.01
        ... )
        >>> [axes.get_ylabel() for axes in figure.axes], figure.axes[1].get_xlabel()
        (['mel band', ''], 'seconds')
    """
    frames = as_array(frames)
    require(
        frames.ndim == 2 and frames.size > 0,
        "`frames` must have the shape (T, F), none of them 0.",
        shape=frames.shape,
    )
    lines = {name: np.atleast_2d(as_array(x)) for name, x in measures.items()}
    for name, values in lines.items():
        require(
            values.ndim == 2
            and values.shape[1] == len(frames)
            and bool(np.isfinite(values).all()),
            f"The measure {name!r} must be one finite number a frame.",
            shape=values.shape,
            frames=len(frames),
        )
    ratios = [_ABOVE, *[_MEASURE] * len(lines)]
    figure = new_figure(_WIDTH, sum(ratios) + 0.6, title)
    above, *panels = figure.subplots(
        len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios
    )[:, 0]
    edges = np.arange(len(frames) + 1) * (seconds or 1.0)
    place = {"extent": (0, edges[-1], 0, frames.shape[1]), "origin": "lower"}
    above.imshow(frames.T, cmap="magma", aspect="auto", **place)
    above.set_ylabel(band_name, fontsize=POINTS - 1)
    for axes, (name, values) in zip(panels, lines.items(), strict=True):
        _draw(axes, edges, name, values)
    lowest = [above, *panels][-1]
    lowest.set_xlabel("seconds" if seconds else "frame", fontsize=POINTS - 1)
    for axes in (above, *panels):
        axes.tick_params(labelsize=POINTS - 2)
    return figure


def _draw(axes, edges, name: str, values) -> None:
    """A step for each frame, as wide as the frame in the spectrogram."""
    alone = len(values) == 1
    for number, row in enumerate(values):
        shown = None if alone else f"head {number}"
        axes.stairs(row, edges, baseline=0, fill=alone, label=shown)
    if values.min() < 0:
        axes.axhline(0, color="black", linewidth=0.8)
    if not alone:
        axes.legend(fontsize=POINTS - 3, frameon=False, ncols=len(values))
    axes.set_title(
        label(name, _LONGEST_NAME), fontsize=POINTS - 1, loc="left", parse_math=False
    )
    axes.spines[["top", "right"]].set_visible(False)
