"""The recurrence by doubling, against a loop."""

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding._log_recurrence import log_recurrence
from tests.backend import compiled, thorough_but, to_numpy


@pytest.mark.parametrize("length", thorough_but([1, 5, 37], [1, 2, 5, 8, 37]))
def test_is_the_recurrence(length):
    random = np.random.default_rng(length)
    factors, terms = -random.exponential(9.0, size=(2, 3, length))
    terms[:, 1::3] = factors[0, 2::4] = -np.inf
    expected, value = np.empty((3, length)), np.full(3, -np.inf)
    for t in range(length):
        value = np.logaddexp(factors[:, t] + value, terms[:, t])
        expected[:, t] = value
    given = (ops.convert_to_tensor(x.astype("float32")) for x in (factors, terms))
    found = to_numpy(compiled(log_recurrence)(*given))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
