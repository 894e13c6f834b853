import numpy as np
import pytest
from matplotlib.colors import to_rgba

from keras_attention.interpretation import plots

SOURCE, TARGET = ["a", "red", "car"], ["red", "one"]
LOOKED = np.array([[0.1, 0.7, 0.2], [0.2, 0.2, 0.6]])
COPIED = np.array([[0.0, 0.6, 0.0], [0.0, 0.0, 0.1]])


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def shades(axes):
    return [sum(patch.get_facecolor()[:3]) for patch in axes.patches]


def test_a_paragraph_for_each_word_and_measure():
    figure = plots.shaded_steps(SOURCE, TARGET, {"attention": LOOKED, "copied": COPIED})
    assert titles(figure) == [
        "red: attention 0.70 at red",
        "red: copied 0.60 at red",
        "one: attention 0.60 at car",
        "one: copied 0.10 at car",
    ]
    for axes in figure.axes:
        assert [text.get_text() for text in axes.texts] == SOURCE
    assert figure.get_suptitle() == "red one"


def test_shades_are_of_one_scale():
    """The more, the darker, also between paragraphs."""
    figure = plots.shaded_steps(SOURCE, TARGET, {"copied": COPIED}, "title")
    first, second = map(shades, figure.axes)
    assert first[0] == first[2] == second[0]
    assert first[1] < second[2] < second[0]
    assert figure.get_suptitle() == "title"
    assert to_rgba(figure.axes[0].patches[1].get_facecolor())[3] == 1


def test_a_word_written_twice_and_more_words_than_are_shown():
    count = plots.MAX_STEPS + 2
    figure = plots.shaded_steps(
        ["x"], ["again"] * count, {"attention": [[1.0]] * count}
    )
    assert len(figure.axes) == plots.MAX_STEPS
    assert f"the first {plots.MAX_STEPS} of {count} words" in figure.get_suptitle()


@pytest.mark.parametrize(
    ("target", "values", "words"),
    [
        ([], np.zeros((0, 3)), "at least one word"),
        (TARGET, LOOKED[:1], "one for each pair of words"),
        (TARGET, LOOKED - 1, "'attention' must be numbers in"),
        (TARGET, LOOKED * 2, "'attention' must be numbers in"),
    ],
)
def test_wrong_numbers(target, values, words):
    with pytest.raises(ValueError, match=words):
        plots.shaded_steps(SOURCE, target, {"attention": values})
