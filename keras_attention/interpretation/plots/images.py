"""Pictures of maps over images: heads, words, rollouts, Grad-CAM, gates."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_attention.errors import positive_integer, require
from keras_attention.interpretation.plots._figure import (
    POINTS,
    as_array,
    label,
    layout,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL = 2.1  # inches of an image's longer side
_COLORS, _OPACITY = "inferno", 0.6
_DARK = 0.85  # opacity of the shadow where nothing is looked at
_LUMA = (0.299, 0.587, 0.114)


def overlays(
    image: Any,
    maps: Any,
    names: Sequence[str] | None = None,
    title: str | None = None,
    limits: tuple[float, float] | None = None,
    value_name: str = "attention weight",
    smooth: bool = False,
) -> "Figure":
    """An image, and beside it each map laid over it: one for every head, for example.

    Args:
        image: `(H, W)`, `(H, W, 1)` or `(H, W, 3)`: 0..255, or floats up to 1.
        maps: `(n, h, w)`, at least 0. They are stretched over the image, whatever
            their resolution.
        names: Over each map; by default `head 0` and so on.
        title: Above the picture.
        limits: The values of the darkest and the brightest color; by default from 0 to
            the largest of all maps, so that panels can be compared.
        value_name: Beside the color bar.
        smooth: Whether values go over into each other. Without, the cells are as large
            as what the model knows of the image.

    Returns:
        The figure; `figure.axes` are the image, the maps in order and their color bar.

    Raises:
        ValueError: for other shapes, maps below 0 or NaN, or names that are not one a
            map.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import plots
        >>> maps = np.random.default_rng(0).uniform(size=(3, 2, 4))
        >>> figure = plots.overlays(np.zeros((28, 56)), maps)
        >>> [axes.get_title() for axes in figure.axes][:2]
        ['image', 'head 0']
    """
    maps = as_array(maps)
    names = [f"head {i}" for i in range(len(maps))] if names is None else names
    panels = layout(len(maps) + 1)
    draw = partial(_lay_over, smooth=smooth)
    return _panels(image, maps, names, panels, draw, title, limits, value_name)


def film_strip(
    image: Any,
    words: Sequence[str],
    maps: Any,
    title: str | None = None,
    longest_row: int = 6,
    limits: tuple[float, float] | None = None,
    value_name: str = "attention weight",
    smooth: bool = True,
) -> "Figure":
    """A caption read word by word: the image, then where each word looked.

    The image lies in the dark and is lit, in its own colors, where the word looked.
    Panels follow each other in rows, as words do in lines.

    Args:
        image: As for `overlays`.
        words: Those of the caption, over their panels.
        maps: `(n, h, w)`, at least 0, one a word, as of `interpretation.word_maps`.
            They are stretched over the image, whatever their grid.
        title: Above the picture.
        longest_row: Most panels in a row.
        limits: As for `overlays`: by default one scale for all words, up to the largest
            weight. A word whose panel stays dark looked nowhere in particular.
        value_name: Beside the color bar.
        smooth: As for `overlays`, but on unless turned off.

    Returns:
        The figure; `figure.axes` are the image, the words in order and their color bar.

    Raises:
        ValueError: as `overlays`, or for a row of no panels.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import plots
        >>> maps = np.random.default_rng(0).uniform(size=(3, 2, 4))
        >>> figure = plots.film_strip(np.zeros((28, 56)), ["a", "red", "fox"], maps)
        >>> [axes.get_title() for axes in figure.axes][:4]
        ['image', 'a', 'red', 'fox']
    """
    maps, panels = as_array(maps), len(words) + 1
    rows = -(-panels // positive_integer("longest_row", longest_row))
    size = (rows, -(-panels // rows))
    draw = partial(_light_up, smooth=smooth)
    return _panels(image, maps, words, size, draw, title, limits, value_name)


def overlay_rows(
    images: Sequence[Any],
    maps: Any,
    names: Sequence[str],
    row_names: Sequence[str] | None = None,
    title: str | None = None,
    smooth: bool = False,
) -> "Figure":
    """A row for each image: the image, then its maps.

    Every map has its own scale, from 0 to its largest value, so colors compare places
    within a map and not maps with each other: there is no color bar.

    Args:
        images: B images as for `overlays`, of one size.
        maps: `(B, n, h, w)`, at least 0.
        names: Over the n columns of maps.
        row_names: Under each image, such as its label and what the model said.
        title: Above the picture.
        smooth: As for `overlays`.

    Returns:
        The figure; `figure.axes` are the panels row by row.

    Raises:
        ValueError: as `overlays`, or for names that are not one an image.
    """
    maps = as_array(maps)
    pictures = [_picture(image) for image in images]
    _check(maps, pictures, names)
    row_names = [""] * len(pictures) if row_names is None else row_names
    require(
        len(row_names) == len(pictures),
        "`row_names` must be one an image.",
        row_names=len(row_names),
        images=len(pictures),
    )
    figure, grid = _grid(pictures[0], len(pictures), len(names) + 1, title)
    for row, picture, row_name, of_image in zip(
        grid, pictures, row_names, maps, strict=True
    ):
        _show(row[0], picture, "")
        row[0].set_xlabel(row_name, fontsize=POINTS - 1, parse_math=False)
        for panel, values in zip(row[1:], of_image, strict=True):
            _lay_over(panel, picture, values, (0.0, _largest(values)), smooth)
    for panel, name in zip(grid[0], ["image", *names], strict=True):
        _title(panel, name)
    return figure


# ----------------------------------------------------------------------- the drawing


def _panels(image, maps, names, size, draw, title, limits, value_name) -> "Figure":
    """The image and its maps in `size` rows and columns, drawn on one scale."""
    picture = _picture(image)
    _check(maps[None], [picture], names)
    low, high = limits or (0.0, _largest(maps))
    figure, grid = _grid(picture, *size, title)
    axes = grid.ravel()
    _show(axes[0], picture, "image")
    for panel, name, values in zip(axes[1:], names, maps, strict=False):
        shown = draw(panel, picture, values, (low, high))
        _title(panel, name)
    for panel in axes[len(maps) + 1 :]:
        panel.remove()
    used = list(axes[: len(maps) + 1])
    figure.colorbar(shown, ax=used, label=value_name, aspect=12 * size[0])
    return figure


def _picture(image) -> np.ndarray:
    """An image as floats from 0 to 1, `(H, W, 3)`."""
    integers = "int" in str(getattr(image, "dtype", ""))
    image = as_array(image)
    image = image[..., None] if image.ndim == 2 else image
    require(
        image.ndim == 3 and image.shape[-1] in (1, 3) and image.size > 0,
        "An image must have the shape (H, W), (H, W, 1) or (H, W, 3).",
        shape=image.shape,
    )
    if integers or image.max() > 1:
        image = image / 255
    return np.broadcast_to(np.clip(image, 0, 1), (*image.shape[:2], 3))


def _check(maps, pictures, names) -> None:
    require(
        maps.ndim == 4 and maps.shape[:2] == (len(pictures), len(names)) and maps.size,
        "Maps must have the shape (n, h, w) of one image or (B, n, h, w) of several, "
        "with one name for each of the n.",
        maps=maps.shape,
        images=len(pictures),
        names=len(names),
    )
    require(
        float(maps.min()) >= 0,
        "Maps must be at least 0.",
        smallest=float(maps.min()),
    )


def _largest(maps) -> float:
    """The largest value, or 1 where all are 0: nothing is to shine then."""
    return float(maps.max()) or 1.0


def _grid(picture, rows: int, columns: int, title):
    """A figure with room for so many images, and its axes."""
    height, width = picture.shape[:2]
    inch = _PANEL / max(height, width)
    size = (
        max(columns * (width * inch + 0.1) + 0.8, 3.5),
        rows * (height * inch + 0.35) + (0.4 if title else 0.1),
    )
    figure = new_figure(*size, title)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _show(axes, picture, name: str) -> None:
    axes.imshow(picture)
    _title(axes, name)
    axes.set(xticks=[], yticks=[])


def _lay_over(axes, picture, values, limits, smooth: bool):
    """The map in color over the image in gray; returns the map's artist."""
    gray = picture @ np.array(_LUMA, "float32")
    axes.imshow(gray, cmap="gray", vmin=0, vmax=1)
    height, width = gray.shape
    axes.set(xticks=[], yticks=[])
    return axes.imshow(
        values,
        cmap=_COLORS,
        vmin=limits[0],
        vmax=limits[1],
        alpha=_OPACITY,
        extent=(-0.5, width - 0.5, height - 0.5, -0.5),
        interpolation="bilinear" if smooth else "nearest",
    )


def _light_up(axes, picture, values, limits, smooth: bool):
    """The image, the darker the less there is of the map; returns the map's artist."""
    low, high = limits
    _show(axes, picture, "")
    height, width = picture.shape[:2]
    return axes.imshow(
        values,
        cmap="gray",
        vmin=low,
        vmax=high,
        alpha=_DARK * (1 - np.clip((values - low) / (high - low), 0, 1)),
        extent=(-0.5, width - 0.5, height - 0.5, -0.5),
        interpolation="bicubic" if smooth else "nearest",
    )


def _title(axes, name: str) -> None:
    axes.set_title(label(name), fontsize=POINTS, parse_math=False)
