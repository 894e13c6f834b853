"""A text shaded by what its words are given: one paragraph for each measure."""

from collections.abc import Mapping, Sequence
from functools import cache
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

MAX_WORDS = 120  # of a longer text the first are shown, and a line says so

_FONT = "DejaVu Sans Mono"  # Matplotlib brings it; all letters have one width
_LETTER = 0.602 * POINTS / 72  # inches of that width
_COLUMNS = 84  # letters of a line
_LINE = 0.24  # inches from line to line
_NAME = 0.3  # inches for the name of a measure
_LONGEST_WORD = 40
_MISSING = "\N{REPLACEMENT CHARACTER}"


def shaded_text(
    words: Sequence[str],
    measures: Mapping[str, Any],
    title: str | None = None,
    scale: float | None = None,
) -> "Figure":
    """A text once for each measure, its words shaded by what the measure gives them.

    Every measure has its own scale, from 0 to its largest magnitude: compare words
    within a paragraph, and which words stand out between paragraphs. A measure without
    a negative value, such as attention, is orange; one with both signs is blue for the
    class that is explained and red against it.

    Args:
        words: The G words.
        measures: By name: `(G,)` numbers, such as rows of `interpretation.occlusion`.
        title: Above the picture.
        scale: What is darkest, in every measure; by default its largest magnitude.

    Returns:
        The figure; `figure.axes` are the paragraphs in order. Letters that Matplotlib's
        own font lacks (Chinese, many emoji) are drawn as a question mark in a diamond,
        and words written from right to left with their letters from left to right.

    Raises:
        ValueError: without words or measures, or for numbers that are not one a word.

    Examples:
        >>> from keras_attention.interpretation import plots
        >>> figure = plots.shaded_text(
        ...     ["not", "bad"], {"attention": [0.3, 0.7], "occlusion": [2.0, -1.0]}
        ... )
        >>> [text.get_text() for text in figure.axes[1].texts]
        ['not', 'bad']
    """
    arrays = {name: as_array(values) for name, values in measures.items()}
    require(
        len(words) > 0 and len(arrays) > 0,
        "There must be at least one word and one measure.",
        words=len(words),
        measures=len(arrays),
    )
    for name, values in arrays.items():
        require(
            values.shape == (len(words),) and bool(np.isfinite(values).all()),
            f"The measure {name!r} must be one finite number a word.",
            shape=values.shape,
            words=len(words),
        )
    shown = [_drawable(label(word, _LONGEST_WORD)) for word in words[:MAX_WORDS]]
    places, lines = _layout(shown)
    heading = [title] if title else []
    if len(words) > MAX_WORDS:
        heading.append(f"the first {MAX_WORDS} of {len(words)} words")
    height = len(arrays) * (_NAME + lines * _LINE) + 0.25 * len(heading) + 0.2
    figure = new_figure(_COLUMNS * _LETTER + 0.4, height, "\n".join(heading))
    grid = figure.subplots(len(arrays), 1, squeeze=False).ravel()
    for axes, (name, values) in zip(grid, arrays.items(), strict=True):
        colors = _colors(values[:MAX_WORDS], scale)
        _draw(axes, shown, places, lines, colors)
        axes.set_title(
            label(name, _COLUMNS), fontsize=POINTS, loc="left", parse_math=False
        )
    return figure


def _layout(words: Sequence[str]) -> tuple[list[tuple[int, int]], int]:
    """Column and line of each word, and the number of lines."""
    places = []
    column = line = 0
    for word in words:
        if column and column + len(word) > _COLUMNS:
            column, line = 0, line + 1
        places.append((column, line))
        column += len(word) + 1
    return places, line + 1


def _draw(axes, words, places, lines, colors) -> None:
    from matplotlib.patches import Rectangle

    for word, (column, line), color in zip(words, places, colors, strict=True):
        box = Rectangle(
            (column - 0.3, line + 0.05), len(word) + 0.6, 0.9, color=color, lw=0
        )
        axes.add_patch(box)
        axes.text(
            column,
            line + 0.5,
            word,
            family=_FONT,
            fontsize=POINTS,
            va="center",
            parse_math=False,
        )
    axes.set(xlim=(-0.5, _COLUMNS + 0.5), ylim=(lines, 0), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _colors(values: np.ndarray, scale: float | None) -> np.ndarray:
    """RGBA of each word, pale enough for black letters."""
    from matplotlib import colormaps

    share = values / (scale or float(np.abs(values).max()) or 1.0)
    if values.min() >= 0:
        return colormaps["Oranges"](0.6 * share)
    return colormaps["RdBu"](0.5 + 0.27 * share)


def _drawable(word: str) -> str:
    """The word, with what the font lacks replaced: else every drawing warns of it."""
    there = _letters()
    return "".join(c if ord(c) in there else _MISSING for c in word)


@cache
def _letters() -> frozenset[int]:
    """The code points that the font has."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(_FONT)).get_charmap())
