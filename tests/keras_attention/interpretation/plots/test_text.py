"""Shaded texts: colors, lines and letters."""

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import plots
from keras_attention.interpretation.plots.text import _COLUMNS


def colors(axes):
    return [patch.get_facecolor()[:3] for patch in axes.patches]


def test_a_paragraph_for_each_measure():
    measures = {"attention": ops.array([0.2, 0.8]), "occlusion": [-2.0, 1.0]}
    figure = plots.shaded_text(["not", "bad"], measures, "positive 0.9")
    first, second = figure.axes
    assert figure.get_suptitle() == "positive 0.9"
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(measures)
    for axes in figure.axes:
        assert [text.get_text() for text in axes.texts] == ["not", "bad"]
    (pale_red, _, pale_blue), (red, _, blue) = colors(first)
    assert red - blue > pale_red - pale_blue > 0  # orange, more of it
    (red, _, blue), (other_red, _, other_blue) = colors(second)
    assert red > blue
    assert other_blue > other_red
    figure.canvas.draw()


def test_long_texts_are_broken_into_lines_and_cut():
    words = [f"word{number}" for number in range(130)]
    figure = plots.shaded_text(words, {"m": np.zeros(130)}, "title")
    assert figure.get_suptitle() == "title\nthe first 120 of 130 words"
    texts = figure.axes[0].texts
    assert len(texts) == plots.MAX_WORDS
    ends = [text.get_position()[0] + len(text.get_text()) for text in texts]
    assert max(ends) <= _COLUMNS
    lines = [text.get_position()[1] for text in texts]
    assert lines == sorted(lines)
    assert len(set(lines)) > 5


def test_every_script_is_drawn_without_a_warning(tmp_path):
    words = ["caf\u00e9", "מرحבا", "猫", "👨\u200d👩", "$x_{", "a" * 200, "\n"]
    figure = plots.shaded_text(words, {"m": np.arange(7.0)})
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert shown[0] == "caf\u00e9"
    assert shown[2] == "\N{REPLACEMENT CHARACTER}"
    assert len(shown[5]) == 40
    assert plots.save(figure, tmp_path / "text.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "measures", "message"),
    [
        ([], {"m": []}, "at least one word and one measure"),
        (["a"], {}, "at least one word and one measure"),
        (["a"], {"m": [1.0, 2.0]}, "measure 'm' must be one finite number a word"),
        (["a"], {"m": [np.nan]}, "measure 'm' must be one finite number a word"),
    ],
)
def test_what_cannot_be_shaded_is_refused(words, measures, message):
    with pytest.raises(ValueError, match=message):
        plots.shaded_text(words, measures)
