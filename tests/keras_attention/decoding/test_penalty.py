"""The length penalty: its two forms, its sign, and the comparison it leads to."""

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import length_penalty

# Case C36: hypothesis A has 2 generated tokens, B has 4; the prompt is not counted.
LENGTHS = np.array([2, 4])
LOG_PROBABILITIES = np.array([-1.0, -1.6], "float32")


@pytest.mark.parametrize(
    ("kind", "alpha", "expected"),
    [
        ("length", 0.0, [-1.0, -1.6]),
        ("length", 0.5, [-0.707107, -0.8]),
        ("length", 1.0, [-0.5, -0.4]),
        ("gnmt", 1.0, [-0.857143, -1.066667]),
        ("gnmt", 2.0, [-0.734694, -0.711111]),
    ],
)
def test_c36_scores_of_both_forms(kind, alpha, expected):
    penalty = ops.convert_to_numpy(length_penalty(LENGTHS, alpha, kind))
    np.testing.assert_allclose(LOG_PROBABILITIES / penalty, expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["length", "gnmt"])
def test_a_larger_alpha_favours_the_longer_hypothesis(kind):
    gains = []
    for alpha in (0.0, 0.5, 1.0, 2.0):
        penalty = ops.convert_to_numpy(length_penalty(LENGTHS, alpha, kind))
        short, long = LOG_PROBABILITIES / penalty
        gains.append(long / short)
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < 1 < gains[0]


@pytest.mark.parametrize("kind", ["length", "gnmt"])
def test_never_falls_with_the_length(kind):
    penalty = ops.convert_to_numpy(length_penalty(np.arange(200), 0.7, kind))
    assert (np.diff(penalty) >= 0).all()
    assert penalty[0] == penalty[1]  # an empty hypothesis counts as one token


def test_unknown_kind_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"`kind` must be one of 'gnmt', 'length'"):
        length_penalty(3, 1.0, "linear")
