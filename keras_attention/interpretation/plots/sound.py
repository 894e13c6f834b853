"""A sound and, under it, what each moment of it is given, or says."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_attention.errors import require
from keras_attention.interpretation.plots._figure import (
    POINTS,
    as_array,
    label,
    labels,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 7.0  # inches
_ABOVE, _MEASURE = 2.0, 1.1  # of the spectrogram's height, and of a measure's
_LONGEST_NAME = 60
_CHARACTER = 0.13  # of the height of a row of an alignment
_BLANK = "\N{OPEN BOX}"  # shown for a blank, which nobody would see


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
    frames = _checked(frames)
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
    figure, panels = _below(frames, [_MEASURE] * len(lines), title, seconds, band_name)
    edges = np.arange(len(frames) + 1) * (seconds or 1.0)
    for axes, (name, values) in zip(panels, lines.items(), strict=True):
        _draw(axes, edges, name, values)
    return figure


def aligned_spectrogram(
    frames: Any,
    alignments: Mapping[str, Any],
    characters: Sequence[str],
    title: str | None = None,
    seconds: float | None = None,
    band_name: str = "mel band",
) -> "Figure":
    """A spectrogram, and below it where in time each character of its text belongs.

    Colors go from 0 to 1 in all panels. Attention that reads as it writes lies on a
    line from the upper left to the lower right.

    Args:
        frames: `(T, F)`, the lowest band first.
        alignments: By name, such as `"head 0"`: `(U, S)` numbers in [0, 1], the share
            of each place in each character. The S places part the T frames evenly.
        characters: The U characters; a blank is drawn as an open box.
        title: Above the picture.
        seconds: From one frame to the next; without, the axis counts frames.
        band_name: What the numbers of a frame are.

    Returns:
        The figure; `figure.axes` are the spectrogram and the alignments in order.

    Raises:
        ValueError: for frames of another shape, or alignments that are not one number
            in [0, 1] for every character and place.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import plots
        >>> figure = plots.aligned_spectrogram(
        ...     np.zeros((8, 3)), {"head 0": np.eye(2)}, ["a", " "]
        ... )
        >>> [label.get_text() for label in figure.axes[1].get_yticklabels()]
        ['a', '␣']
    """
    frames = _checked(frames)
    panels = {name: as_array(x) for name, x in alignments.items()}
    for name, values in panels.items():
        require(
            values.ndim == 2
            and values.size > 0
            and len(values) == len(characters)
            and bool((values >= 0).all() and (values <= 1.01).all()),
            f"The alignment {name!r} must be a number in [0, 1] for every character "
            "and place.",
            shape=values.shape,
            characters=len(characters),
        )
    height = max(_MEASURE, _CHARACTER * len(characters))
    figure, below = _below(frames, [height] * len(panels), title, seconds, band_name)
    end = len(frames) * (seconds or 1.0)
    shown = [_BLANK if one == " " else one for one in labels(characters)]
    for axes, (name, values) in zip(below, panels.items(), strict=True):
        place = {"extent": (0, end, len(values) - 0.5, -0.5), "aspect": "auto"}
        axes.imshow(values, vmin=0, vmax=1, cmap="viridis", **place)
        _name(axes, name)
        axes.set_yticks(range(len(shown)), shown, parse_math=False)
        axes.tick_params(axis="y", length=0, labelsize=POINTS - 3)
    return figure


def _checked(frames: Any) -> np.ndarray:
    frames = as_array(frames)
    require(
        frames.ndim == 2 and frames.size > 0,
        "`frames` must have the shape (T, F), none of them 0.",
        shape=frames.shape,
    )
    return frames


def _below(
    frames: np.ndarray,
    heights: Sequence[float],
    title: str | None,
    seconds: float | None,
    band_name: str,
) -> tuple["Figure", list[Any]]:
    """A spectrogram with so many empty panels below it, and these."""
    ratios = [_ABOVE, *heights]
    figure = new_figure(_WIDTH, sum(ratios) + 0.6, title)
    above, *panels = figure.subplots(
        len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios
    )[:, 0]
    end = len(frames) * (seconds or 1.0)
    place = {"extent": (0, end, 0, frames.shape[1]), "origin": "lower"}
    above.imshow(frames.T, cmap="magma", aspect="auto", **place)
    above.set_ylabel(band_name, fontsize=POINTS - 1)
    lowest = [above, *panels][-1]
    lowest.set_xlabel("seconds" if seconds else "frame", fontsize=POINTS - 1)
    for axes in (above, *panels):
        axes.tick_params(labelsize=POINTS - 2)
    return figure, panels


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
    _name(axes, name)
    axes.spines[["top", "right"]].set_visible(False)


def _name(axes, name: str) -> None:
    axes.set_title(
        label(name, _LONGEST_NAME), fontsize=POINTS - 1, loc="left", parse_math=False
    )
