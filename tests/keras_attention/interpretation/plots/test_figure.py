"""What all pictures share."""

import subprocess
import sys

import numpy as np
import pytest

from keras_attention.interpretation import plots
from keras_attention.interpretation.plots._figure import label


@pytest.mark.parametrize(
    ("count", "rows", "columns"),
    [(1, 1, 1), (3, 1, 3), (4, 2, 2), (5, 2, 3), (6, 2, 3), (8, 2, 4), (16, 4, 4)],
)
def test_layout(count, rows, columns):
    scores = np.full((count, 1, 2), 0.5)
    figure = plots.head_panels(scores, ["a"], ["b", "c"])
    grid = figure.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (rows, columns)


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("a\nb\t", "a\\nb\\t"),
        ("Donaudampfschifffahrt", "Donaudampfschifff…"),
        ("ß▁Ω", "ß▁Ω"),
    ],
)
def test_labels_stay_on_one_line_and_short(token, shown):
    assert label(token) == shown
    figure = plots.heatmap([[1.0]], [token], ["x"])
    assert figure.axes[0].get_yticklabels()[0].get_text() == shown


def test_headings_are_no_formulas():
    figure = plots.heatmap([[1.0]], ["a"], ["b"], "$x_{")
    assert figure.get_suptitle() == "$x_{"
    figure.canvas.draw()


def test_save_makes_folders_and_draws_without_warnings(tmp_path):
    scores = np.full((5, 3, 4), 0.25)
    figure = plots.head_panels(scores, list("äbc"), list("wxyz"), "Größe", True)
    path = plots.save(figure, tmp_path / "figures" / "heads.png")
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_figures_are_unknown_to_pyplot():
    from matplotlib import pyplot

    plots.heatmap([[1.0]], ["a"], ["b"])
    assert pyplot.get_fignums() == []


@pytest.mark.slow
def test_only_a_picture_needs_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from keras_attention import interpretation\n"
        "try: interpretation.plots.heatmap([[1.0]], ['a'], ['b'])\n"
        "except ImportError: sys.exit(7)"
    )
    outcome = subprocess.run([sys.executable, "-c", code], check=False)
    assert outcome.returncode == 7
