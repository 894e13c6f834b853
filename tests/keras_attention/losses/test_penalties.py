"""Penalties of attention scores against their formulae."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.losses import (
    coverage,
    coverage_penalty,
    doubly_stochastic_penalty,
)
from tests.backend import to_numpy


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_doubly_stochastic_penalty_by_hand(dtype):
    """Places looked at 1, 0.75 and 0.25 times: (0 + 1/16 + 9/16) / 3; then never."""
    scores = ops.array([[[1.0, 0, 0], [0, 0.75, 0.25], [0.5, 0.5, 0]]] * 2, dtype=dtype)
    mask = np.array([[True, True, False], [False, False, False]])
    found = doubly_stochastic_penalty(scores, mask)
    assert keras.backend.standardize_dtype(found.dtype) == "float32"
    np.testing.assert_allclose(ops.convert_to_numpy(found), [5 / 24, 1.0], rtol=1e-6)


def test_coverage_penalty_by_hand():
    """Equation 12 of See et al.: padding counts neither above nor below."""
    scores = np.array(
        [
            [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]],
            [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.3, 0.3, 0.4]],
        ]
    )
    mask = np.array([[True, True, True], [True, True, False]])
    # 0 for first steps; then what was seen: 0.5, 1 of 1.5 seen, and 1.
    expected = (0 + 0.5 + 1.0 + 0 + 1.0) / 5
    np.testing.assert_allclose(float(coverage_penalty(scores, mask)), expected)
    assert float(coverage_penalty(scores, np.zeros((2, 3), bool))) == 0.0
    before = to_numpy(coverage(ops.convert_to_tensor(scores)))
    np.testing.assert_allclose(before[0], [[0, 0, 0], [1, 0, 0], [1.5, 0.5, 0]])
