import numpy as np
import pytest

from applications.kernel_regression.baselines import (
    cross_validated_bandwidth,
    nadaraya_watson,
)
from applications.kernel_regression.data import Points, source_of
from applications.kernel_regression.evaluation import (
    evaluate,
    leave_one_out,
    predicted,
)

ASKED = np.array([-1.0, 0.0, 2.5])


@pytest.fixture
def points(make_model):
    x, y = (np.array(w)[:, 0].astype(float) for w in make_model("fixed").get_weights())
    return Points(x, y, ASKED, np.sin(ASKED), source_of("sine"))


def test_leave_one_out_is_each_point_from_the_others(make_model, points):
    errors = []
    for i in range(len(points.x)):
        others = np.arange(len(points.x)) != i
        found, _ = nadaraya_watson(
            points.x[i : i + 1], points.x[others], points.y[others], 0.7
        )
        errors.append((found[0] - points.y[i]) ** 2)
    expected = np.mean(errors)
    assert leave_one_out(make_model("fixed"), points) == pytest.approx(expected, 1e-4)


def test_figures(make_model, points):
    model = make_model("learned")
    found = evaluate(model, points, bandwidth=0.2)
    expected = np.mean((predicted(model, ASKED) - np.sin(ASKED)) ** 2)
    assert found["mse"] == pytest.approx(expected)
    assert found["bandwidth"] == pytest.approx(0.7)
    assert found["parameters"] == 1
    other, _ = nadaraya_watson(ASKED, points.x, points.y, 0.2)
    fixed = found["baselines"]["fixed_kernel"]
    assert fixed["mse"] == pytest.approx(np.mean((other - np.sin(ASKED)) ** 2))
    chosen = found["baselines"]["cross_validated_kernel"]
    assert chosen["bandwidth"] == cross_validated_bandwidth(points.x, points.y)
    other, _ = nadaraya_watson(ASKED, points.x, points.y, chosen["bandwidth"])
    assert chosen["mse"] == pytest.approx(np.mean((other - np.sin(ASKED)) ** 2))
    mean = np.mean((points.y.mean() - np.sin(ASKED)) ** 2)
    assert found["baselines"]["mean"]["mse"] == pytest.approx(mean)
    assert found["share_of_mean"] == pytest.approx(expected / mean)


def test_attention_has_no_bandwidth(make_model, points):
    assert "bandwidth" not in evaluate(make_model("attention"), points, 0.2)
