"""Confusion and reliability: numbers, shares and gaps."""

import numpy as np
import pytest

from keras_attention.interpretation import plots
from keras_attention.metrics import calibration_error

NAMES = ["cat", "dog", "$fish$"]
COUNTS = np.array([[8, 2, 0], [1, 1, 0], [0, 0, 0]])


def texts(labels):
    return [text.get_text() for text in labels]


def test_cells_have_the_share_of_the_row_and_the_count():
    figure = plots.confusion_matrix(COUNTS, NAMES, "test set")
    axes = figure.axes[0]
    expected = [[0.8, 0.2, 0], [0.5, 0.5, 0], [0, 0, 0]]
    np.testing.assert_allclose(axes.images[0].get_array(), expected)
    assert axes.images[0].get_clim() == (0, 1)
    assert texts(axes.texts) == list("820110000")
    assert texts(axes.get_yticklabels()) == texts(axes.get_xticklabels()) == NAMES
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("label", "predicted")
    assert figure.get_suptitle() == "test set"
    figure.canvas.draw()


def test_counts_can_be_read_on_every_color():
    dark, pale, nothing = (
        plots.confusion_matrix(COUNTS, NAMES).axes[0].texts[i] for i in (0, 1, 2)
    )
    colors = [text.get_color() for text in (dark, pale, nothing)]
    assert colors == ["white", "black", "#bbbbbb"]


def test_many_classes_have_colors_without_numbers():
    numbers = [str(i) for i in range(100)]
    figure = plots.confusion_matrix(np.eye(100, dtype=int), numbers)
    axes = figure.axes[0]
    assert not axes.texts
    names = axes.get_yticklabels()
    assert texts(names) == numbers[::2]
    assert names[0].get_fontsize() >= 6
    assert (figure.get_size_inches() < 14).all()


@pytest.mark.parametrize(
    "counts", [COUNTS[:2], COUNTS[:, :2], COUNTS[0], np.ones((4, 4), int)]
)
def test_confusion_needs_a_name_for_each_class(counts):
    with pytest.raises(ValueError, match=r"one name a class.*class_names=3"):
        plots.confusion_matrix(counts, NAMES)


def test_reliability_shows_both_kinds_of_gap():
    """0.9 and half right, 0.65 and all right."""
    said = np.array([0.9, 0.9, 0.65])
    rows = np.stack([said, 1 - said], axis=1)
    figure = plots.reliability_diagram(calibration_error([0, 1, 0], rows, bins=10))
    above, below = figure.axes
    # Of two bins each: what is said and right, what is missing, what is beyond.
    tops = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in above.patches]
    np.testing.assert_allclose(
        tops, [(0, 0.65), (0, 0.5), (0.65, 0.65), (0.5, 0.9), (0.65, 1), (0.5, 0.5)]
    )
    assert [bar.get_x() for bar in above.patches[:2]] == pytest.approx([0.6, 0.8])
    shares = [bar.get_height() for bar in below.patches]
    np.testing.assert_allclose(shares, [1 / 3, 2 / 3])
    assert above.get_title() == "expected calibration error 0.3833"
    assert below.get_xlabel() == "confidence"
    figure.canvas.draw()
