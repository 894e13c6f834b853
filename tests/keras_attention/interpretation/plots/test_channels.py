"""Gates of channels: heights, order and scale."""

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import plots


def heights(axes):
    return [bar.get_height() for bar in axes.patches]


def test_bars_are_sorted_and_share_a_scale():
    gates = {"stage 0": ops.array([0.25, 0.75, 0.5]), "stage 1": [0.125]}
    figure = plots.gate_bars(gates, "gates")
    first, second = figure.axes
    assert figure.get_suptitle() == "gates"
    assert first.get_title() == "stage 0\nC = 3, mean 0.50"
    assert heights(first) == [0.75, 0.5, 0.25]
    assert list(first.lines[0].get_ydata()) == [0.5, 0.5]
    assert heights(second) == [0.125]
    assert first.get_ylim() == second.get_ylim() == (0, pytest.approx(1.02))
    figure.canvas.draw()


def test_gates_above_1_fit():
    figure = plots.gate_bars({"scSE": [2.0, 1.5]})
    assert figure.axes[0].get_ylim()[1] > 2


def test_strips_have_one_order_of_channels():
    gates = np.array([[0.1, 0.9, 0.5], [0.3, 0.7, 1.0]])  # means 0.2, 0.8, 0.75
    figure = plots.gate_strips(gates, ["cat", "dog"], "by class")
    axes, color_bar = figure.axes
    shown = axes.images[0].get_array()
    np.testing.assert_allclose(shown, gates[:, [1, 2, 0]], atol=1e-6)
    assert axes.images[0].get_clim() == (0, 1)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["cat", "dog"]
    assert color_bar.get_ylabel() == "gate"
    figure.canvas.draw()


def test_long_row_labels_have_room():
    """What an image is and what was said of it, beside strips as wide as ever."""
    names = ["T-shirt/top: T-shirt/top 0.97", "Ankle boot: Sneaker 0.55"]
    widths = []
    for row_labels in (["cat", "dog"], names):
        figure = plots.gate_strips(np.ones((2, 3)), row_labels)
        axes = figure.axes[0]
        assert [text.get_text() for text in axes.get_yticklabels()] == row_labels
        figure.canvas.draw()
        assert min(text.get_window_extent().x0 for text in axes.get_yticklabels()) > 0
        widths.append(axes.get_window_extent().width)
    assert widths[1] > 0.9 * widths[0]


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        (np.ones((2, 3)), r"shape \(C,\).*shape=\(2, 3\)"),
        (np.ones(0), r"shape \(C,\)"),
        ([-0.1], "at least 0.*smallest=-0.1"),
        ([np.nan], "at least 0.*smallest=nan"),
    ],
)
def test_wrong_gates_are_refused(gate, message):
    with pytest.raises(ValueError, match=message):
        plots.gate_bars({"layer": gate})


def test_strips_and_bars_need_something_to_show():
    with pytest.raises(ValueError, match="at least one layer"):
        plots.gate_bars({})
    with pytest.raises(ValueError, match=r"shape \(n, C\)"):
        plots.gate_strips(np.ones(3), ["a", "b", "c"])
    with pytest.raises(ValueError, match="`row_labels` must be one a row"):
        plots.gate_strips(np.ones((2, 3)), ["a"])
