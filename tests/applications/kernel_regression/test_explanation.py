import numpy as np
import pytest

from applications.errors import UserError
from applications.kernel_regression import explanation
from applications.kernel_regression.data import Points, source_of
from applications.pipeline.run import Run


@pytest.fixture
def points(make_model):
    x, y = (np.array(w)[:, 0].astype(float) for w in make_model("fixed").get_weights())
    return Points(x, y, np.array([0.0]), np.array([0.0]), source_of("mine.csv"))


def test_queries_of_ones_own_are_drawn_and_lie_inside(
    make_model, points, tmp_path, monkeypatch
):
    drawn = {}

    def save(figure, path):
        drawn[path.name.removeprefix(".new-")] = figure
        path.write_bytes(b"drawn")

    monkeypatch.setattr(explanation.plots, "save", save)
    found = explanation.explain(
        make_model("attention"), points, 0.5, Run(tmp_path), [-4.0, 1.5]
    )
    names = ["fit", "query-minus-4", "query-1-5", "weights", "bandwidths"]
    assert [path.stem for path in found] == names
    low, high = drawn["fit.png"].axes[0].lines[1].get_xdata()[[0, -1]]
    assert (low, high) == (-4.0, 3.0)
    lines = drawn["fit.png"].axes[0].get_legend_handles_labels()[1]
    assert lines[1:3] == ["attention", "fixed, bandwidth 0.5"]
    assert lines[3].startswith("cross-validated, bandwidth ")
    titles = [axes.get_title() for axes in drawn["bandwidths.png"].axes[:5]]
    assert titles[2].startswith("bandwidth 0.5, test MSE")
    widest = drawn["bandwidths.png"].axes[4].lines[1].get_ydata()
    assert np.ptp(widest) < 0.1  # flat
    narrowest = drawn["bandwidths.png"].axes[0].lines[1].get_ydata()
    steps = np.abs(narrowest[::40, None] - points.y).min(axis=1)
    assert steps.max() < 1e-3


def test_too_many_queries_are_refused(make_model, points, tmp_path):
    with pytest.raises(UserError, match="24 queries at most"):
        explanation.explain(make_model("fixed"), points, 0.5, Run(tmp_path), [0.0] * 25)
