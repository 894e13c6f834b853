"""Curves over points, bars and maps of weights."""

import numpy as np
import pytest

from keras_attention.interpretation import plots
from keras_attention.interpretation.plots import Fit

X = np.linspace(0, 1, 7)
KNOWN = np.array([0.9, 0.1, 0.4]), np.array([1.0, 2.0, 3.0])
WEIGHTS = np.array([0.2, 0.7, 0.1])


def test_curves_lie_over_the_points():
    figure = plots.regression_curves(X, {"a": X, "b": 2 * X}, KNOWN, "title")
    points, first, second = figure.axes[0].lines
    np.testing.assert_allclose(points.get_xydata(), np.stack(KNOWN, 1), rtol=1e-6)
    np.testing.assert_allclose(first.get_ydata(), X, rtol=1e-6)
    np.testing.assert_allclose(second.get_ydata(), 2 * X, rtol=1e-6)
    assert first.get_color() != second.get_color()
    figure.canvas.draw()


def test_one_fit_has_its_bars_beside_and_several_below():
    one = plots.weighted_fits(X, {"a": Fit(X, WEIGHTS)}, KNOWN, 0.25)
    curve, bars = one.axes
    assert [bar.get_height() for bar in bars.patches] == pytest.approx(WEIGHTS)
    centers = [bar.get_x() + bar.get_width() / 2 for bar in bars.patches]
    assert centers == pytest.approx(KNOWN[0])
    assert curve.lines[-1].get_xdata()[0] == 0.25
    one.canvas.draw()
    assert curve.get_position().y0 == pytest.approx(bars.get_position().y0, abs=0.01)
    fits = {"a": Fit(X, WEIGHTS), "b": Fit(X, [1 / 3] * 3)}
    several = plots.weighted_fits(X, fits, KNOWN, 0.25)
    several.canvas.draw()
    curves, bars = several.axes[:2], several.axes[2:]
    assert [axes.get_title() for axes in curves] == ["a", "b"]
    assert all(axes.get_position().y1 < curves[0].get_position().y0 for axes in bars)
    assert bars[0].get_ylim() == bars[1].get_ylim()


def test_a_map_sorts_the_points():
    scores = np.array([WEIGHTS, [0.5, 0.25, 0.25]])
    figure = plots.weight_map([0.0, 1.0], KNOWN[0], scores)
    shown = figure.axes[0].images[0].get_array()
    np.testing.assert_allclose(shown, scores[:, [1, 2, 0]], rtol=1e-6)
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["0.1", "0.4", "0.9"]
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: plots.regression_curves(X, {}, KNOWN), "at least one curve"),
        (lambda: plots.regression_curves(X, {"a": X[:3]}, KNOWN), "each x"),
        (lambda: plots.regression_curves(X, {"a": X}, (X, X[:3])), "`known` must be"),
        (lambda: plots.weighted_fits(X, {}, KNOWN, 0), "at least one fit"),
        (lambda: plots.weighted_fits(X, {"a": Fit(X, X)}, KNOWN, 0), "one a point"),
        (
            lambda: plots.weighted_fits(X, {"a": Fit(X, -WEIGHTS)}, KNOWN, 0),
            r"Weights must be in \[0, 1\]",
        ),
        (lambda: plots.weight_map([0.0], KNOWN[0], np.ones((2, 3))), "each query"),
    ],
)
def test_what_is_refused(draw, words):
    with pytest.raises(ValueError, match=words):
        draw()
