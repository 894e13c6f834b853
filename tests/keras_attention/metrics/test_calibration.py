"""Calibration error by hand and where its value is known."""

import numpy as np
import pytest

from keras_attention.metrics import calibration_error


def two_classes(confidence):
    """Rows that say class 0 with these probabilities."""
    confidence = np.asarray(confidence, float)
    return np.stack([confidence, 1 - confidence], axis=1)


def test_by_hand():
    """Bins of 0.1: three examples near 0.85, of which one is right, one at 0.62."""
    found = calibration_error(
        [0, 1, 1, 0], two_classes([0.82, 0.85, 0.88, 0.62]), bins=10
    )
    assert found.count.tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 3, 0]
    assert found.accuracy[[6, 8]] == pytest.approx([1, 1 / 3])
    assert found.confidence[[6, 8]] == pytest.approx([0.62, 0.85])
    assert found.error == pytest.approx(0.75 * (0.85 - 1 / 3) + 0.25 * (1 - 0.62))
    assert np.isnan(found.accuracy[[0, 7, 9]]).all()
    np.testing.assert_allclose(found.edges, np.arange(11) / 10, atol=1e-12)


def test_the_mean_of_a_bin_counts_not_its_examples():
    """Right at 0.81 and wrong at 0.89 is half right at 0.85."""
    found = calibration_error([0, 1], two_classes([0.81, 0.89]), bins=10)
    assert found.error == pytest.approx(0.35)


def test_a_confidence_on_an_edge_belongs_below():
    found = calibration_error([0, 0], two_classes([0.75, 1.0]), bins=4)
    assert found.count.tolist() == [0, 0, 1, 1]


def test_labels_drawn_as_the_model_says_are_calibrated():
    generator = np.random.default_rng(0)
    probabilities = generator.dirichlet(np.ones(5), size=40_000)
    draws = probabilities.cumsum(axis=1) < generator.random((40_000, 1))
    assert calibration_error(draws.sum(axis=1), probabilities).error < 0.01


def test_always_sure_and_always_wrong_is_1():
    found = calibration_error([1, 1, 1], two_classes([1, 1, 1]))
    assert found.error == 1
    assert len(found.count) == 15


def test_a_constant_model_is_never_right():
    """As in accuracy: of ten equal probabilities none names a class."""
    found = calibration_error(np.arange(10), np.full((10, 10), 0.1))
    assert np.nanmax(found.accuracy) == 0
    assert found.error == pytest.approx(0.1)


def test_half_precision_rows_are_taken():
    rows = np.random.default_rng(0).dirichlet(np.ones(7), size=50).astype("float16")
    assert 0 < calibration_error(np.zeros(50, int), rows).error < 1


@pytest.mark.parametrize(
    "rows",
    [[[2.0, 3.0]], [[0.5, 0.6]], [[-0.5, 1.5]], [[np.nan, 1.0]], [[np.nan, np.nan]]],
)
def test_what_is_no_probability_is_refused(rows):
    with pytest.raises(ValueError, match=r"in \[0, 1\] and sum to 1"):
        calibration_error([0], np.array(rows))


def test_bins_and_labels_are_checked():
    with pytest.raises(ValueError, match="`bins` must be a positive integer"):
        calibration_error([0], two_classes([0.9]), bins=0)
    with pytest.raises(ValueError, match="integers from 0 to 1"):
        calibration_error([2], two_classes([0.9]))
