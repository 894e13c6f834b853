"""Pictures of gates of channels: sorted bars of one image, strips of several."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_attention.errors import require
from keras_attention.interpretation.plots._figure import (
    POINTS,
    as_array,
    label,
    layout,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST_ROW = 44  # characters beside a strip: what an image is and what was said of it
_LETTER = 0.08  # inches that one of them takes


def gate_bars(gates: Mapping[str, Any], title: str | None = None) -> "Figure":
    """How far each channel is opened, a panel for every layer, largest first.

    A gate that does something has a slope; bars of one height, wherever they stand,
    scale the map and choose nothing.

    Args:
        gates: By name of the layer: `(C,)`, at least 0, such as a row of
            `interpretation.channel_gates`.
        title: Above the picture.

    Returns:
        The figure; `figure.axes` are the panels in order, each with a line at its mean.
        All go from 0 to 1, or to the largest of all bars where that is more.

    Raises:
        ValueError: without gates, or for other shapes, gates below 0 or NaN.

    Examples:
        >>> from keras_attention.interpretation import plots
        >>> figure = plots.gate_bars({"stage 0": [0.2, 0.9], "stage 1": [0.5]})
        >>> figure.axes[0].get_title().splitlines()
        ['stage 0', 'C = 2, mean 0.55']
    """
    arrays = {name: as_array(gate) for name, gate in gates.items()}
    require(len(arrays) > 0, "`gates` must hold the gate of at least one layer.")
    for gate in arrays.values():
        _check(gate, rank=1)
    rows, columns = layout(len(arrays))
    figure = new_figure(3.0 * columns + 0.5, 2.3 * rows + 0.4, title)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    top = max(1.0, *(float(gate.max()) for gate in arrays.values()))
    for axes, (name, gate) in zip(grid, arrays.items(), strict=False):
        _draw_bars(axes, np.sort(gate)[::-1])
        heading = f"{label(name, longest=42)}\nC = {len(gate)}, mean {gate.mean():.2f}"
        axes.set_title(heading, fontsize=POINTS - 2, parse_math=False)
        axes.set_ylim(0, top * 1.02)
    for axes in grid[len(arrays) :]:
        axes.remove()
    figure.supylabel("gate", fontsize=POINTS)
    figure.supxlabel("channels, the widest open first", fontsize=POINTS)
    return figure


def gate_strips(
    gates: Any, row_labels: Sequence[str], title: str | None = None
) -> "Figure":
    """How far each channel is opened for several images, a strip for each.

    Rows that differ say that the gate looks at the image; equal rows are a constant
    scale that the model could have had in its weights.

    Args:
        gates: `(n, C)`, at least 0: a row for each image, or for each class on the mean
            over its images.
        row_labels: Beside each strip, which has the same width however long they are.
        title: Above the picture.

    Returns:
        The figure; channels are sorted by their mean, the widest open first, the same
        in every row.

    Raises:
        ValueError: for other shapes, gates below 0 or NaN, or labels that are not one a
            row.
    """
    gates = as_array(gates)
    _check(gates, rank=2)
    require(
        len(row_labels) == len(gates),
        "`row_labels` must be one a row.",
        row_labels=len(row_labels),
        shape=gates.shape,
    )
    order = np.argsort(-gates.mean(axis=0), kind="stable")
    height = 0.27 * len(gates) + 0.9 + (0.3 if title else 0)
    names = [label(name, _LONGEST_ROW) for name in row_labels]
    figure = new_figure(6.0 + _LETTER * max(map(len, names)), height, title)
    axes = figure.subplots()
    image = axes.imshow(
        gates[:, order],
        vmin=0,
        vmax=max(1.0, float(gates.max())),
        cmap="viridis",
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_yticks(range(len(gates)), names, fontsize=POINTS - 1, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("channels, the widest open first", fontsize=POINTS)
    figure.colorbar(image, ax=axes, label="gate", aspect=15)
    return figure


def _check(gate: np.ndarray, rank: int) -> None:
    require(
        gate.ndim == rank and gate.size > 0,
        f"A gate must have the shape {'(C,)' if rank == 1 else '(n, C)'}.",
        shape=gate.shape,
    )
    smallest = float(gate.min())
    require(smallest >= 0, "Gates must be at least 0.", smallest=smallest)


def _draw_bars(axes, ordered: np.ndarray) -> None:
    places = np.arange(len(ordered))
    axes.bar(places, ordered, width=1.0, color="#4c72b0", linewidth=0)
    axes.axhline(float(ordered.mean()), color="#c44e52", linewidth=1)
    axes.set_xlim(-0.5, len(ordered) - 0.5)
    axes.set_xticks([])
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=POINTS - 2)
