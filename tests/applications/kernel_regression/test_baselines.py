import numpy as np
import pytest

from applications.kernel_regression.baselines import (
    cross_validated_bandwidth,
    mean_squared_error,
    nadaraya_watson,
)
from applications.kernel_regression.evaluation import predicted
from keras_attention import interpretation

X, Y = np.array([0.0, 1.0, 3.0]), np.array([2.0, 4.0, 9.0])


def test_by_hand():
    """Two points: a logistic function of the difference of squares."""
    found, weights = nadaraya_watson(np.array([0.25]), X[:2], Y[:2], 0.5)
    share = 1 / (1 + np.exp((0.75**2 - 0.25**2) / (2 * 0.5**2)))
    assert weights[0, 1] == pytest.approx(share)
    assert found[0] == pytest.approx(2 + 2 * share)


def test_a_wide_bandwidth_is_the_mean_and_a_narrow_one_the_nearest():
    queries = np.array([-50.0, 0.1, 2.9, 1e6])
    wide, _ = nadaraya_watson(queries[1:3], X, Y, 1e4)
    np.testing.assert_allclose(wide, Y.mean(), rtol=1e-6)
    narrow, weights = nadaraya_watson(queries, X, Y, 1e-3)
    np.testing.assert_allclose(narrow, [2, 2, 9, 9])
    np.testing.assert_allclose(weights.sum(axis=1), 1)


@pytest.mark.parametrize("bandwidth", [0.05, 0.7, 20.0])
def test_the_layer_gives_the_same_numbers(make_model, bandwidth):
    model = make_model("fixed", bandwidth)
    known_x, known_y = (np.array(w)[:, 0] for w in model.get_weights())
    queries = np.linspace(-3, 4, 23)
    expected, weights = nadaraya_watson(
        queries.astype("float32").astype(float), known_x, known_y, bandwidth
    )
    # float32; at a narrow bandwidth logits are in the thousands.
    np.testing.assert_allclose(predicted(model, queries), expected, atol=1e-4)
    record = interpretation.capture(model, queries.astype("float32")[:, None])
    np.testing.assert_allclose(record.numpy("attention")[0], weights, atol=1e-4)


def test_the_bandwidth_that_is_chosen_has_the_least_leave_one_out_error():
    draw = np.random.default_rng(0)
    x = draw.integers(0, 11, 23) / 2  # some are there twice
    y = np.sin(x) + 0.3 * draw.normal(size=len(x))
    grid = np.ptp(x) * 10 ** np.linspace(-3, 0, 61)
    errors = []
    for bandwidth in grid:
        missed = []
        for place, value in zip(x, y, strict=True):
            other = x != place
            found, _ = nadaraya_watson(np.array([place]), x[other], y[other], bandwidth)
            missed.append(found[0] - value)
        errors.append(np.mean(np.square(missed)))
    least = grid[np.argmin(errors)]
    assert grid[0] < least < grid[-1]
    assert cross_validated_bandwidth(x, y) == pytest.approx(least)


def test_noise_chooses_a_wide_bandwidth_and_a_smooth_curve_a_narrow_one():
    x = np.linspace(0, 1, 41)
    assert cross_validated_bandwidth(x, np.where(np.arange(41) % 2, 1.0, -1.0)) > 0.5
    assert cross_validated_bandwidth(x, np.sin(12 * x)) < 0.025  # of the neighbours


def test_mean_squared_error():
    assert mean_squared_error(np.array([1.0, 2.0]), np.array([1.0, 5.0])) == 4.5
