"""The sinusoidal encoding against its formula in float64."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.ops import sinusoidal_encoding
from tests.backend import to_numpy


def by_hand(positions, width, max_wavelength=10_000.0):
    """Feature by feature, in float64."""
    encoding = np.empty((len(positions), width))
    for feature in range(width):
        wavelength = max_wavelength ** (2 * (feature // 2) / width)
        wave = np.cos if feature % 2 else np.sin
        encoding[:, feature] = wave(positions / wavelength)
    return encoding


@pytest.mark.parametrize("width", [1, 2, 5, 8, 13])
def test_equals_the_formula(width):
    found = to_numpy(sinusoidal_encoding(17, width))
    np.testing.assert_allclose(found, by_hand(np.arange(17), width), atol=1e-5)


def test_c31_odd_width():
    """C31: an odd width ends with a sine."""
    expected = [
        [0, 1, 0, 1, 0],
        [0.841471, 0.540302, 0.025116, 0.999685, 0.000631],
        [0.909297, -0.416147, 0.050217, 0.998739, 0.001262],
    ]
    found = to_numpy(sinusoidal_encoding(3, 5))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_starts_where_asked():
    np.testing.assert_array_equal(
        to_numpy(sinusoidal_encoding(3, 6, start=4)),
        to_numpy(sinusoidal_encoding(7, 6))[4:],
    )


def test_start_may_be_a_tensor():
    found = sinusoidal_encoding(3, 6, start=ops.convert_to_tensor(4, "int32"))
    np.testing.assert_array_equal(
        to_numpy(found), to_numpy(sinusoidal_encoding(7, 6))[4:]
    )


def test_other_wavelength():
    found = to_numpy(sinusoidal_encoding(9, 6, max_wavelength=50.0))
    np.testing.assert_allclose(found, by_hand(np.arange(9), 6, 50.0), atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_float16", "bfloat16"])
def test_c32_angles_are_float32_whatever_the_policy(policy):
    """C32: far positions stay apart."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        encoding = sinusoidal_encoding(4001, 8)
    finally:
        keras.config.set_dtype_policy(before)
    assert keras.backend.standardize_dtype(encoding.dtype) == "float32"
    # float32 angles of up to 4,000 are good to 2e-4.
    np.testing.assert_allclose(
        to_numpy(encoding), by_hand(np.arange(4001), 8), atol=5e-4
    )
