"""Encodings, rotations and biases against their formulas in float64."""

import math

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.ops import positions, sinusoidal_encoding
from tests.backend import tensor, to_numpy


def by_hand(at, width, max_wavelength=10_000.0):
    """Feature by feature, in float64."""
    encoding = np.empty((len(at), width))
    for feature in range(width):
        wavelength = max_wavelength ** (2 * (feature // 2) / width)
        wave = np.cos if feature % 2 else np.sin
        encoding[:, feature] = wave(at / wavelength)
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


def test_2d_encoding_has_the_row_first_and_the_column_second():
    found = to_numpy(positions.sinusoidal_encoding_2d(5, 7, 12, 50.0))
    for row in range(5):
        for column in range(7):
            place = found[row, column]
            np.testing.assert_allclose(
                place[:6], by_hand(np.array([row]), 6, 50.0)[0], atol=1e-5
            )
            np.testing.assert_allclose(
                place[6:], by_hand(np.array([column]), 6, 50.0)[0], atol=1e-5
            )


def test_c31_2d_encoding_of_odd_halves():
    """C31: half of the features may be odd; all of them may not."""
    found = to_numpy(positions.sinusoidal_encoding_2d(3, 3, 10))
    np.testing.assert_allclose(found[2, 1, :5], by_hand(np.array([2]), 5)[0], atol=1e-6)
    np.testing.assert_allclose(found[2, 1, 5:], by_hand(np.array([1]), 5)[0], atol=1e-6)
    with pytest.raises(ValueError, match=r"size must be even.*width=5"):
        positions.sinusoidal_encoding_2d(3, 3, 5)


# -------------------------------------------------------------------------- rotations


def turned_by_hand(x, at, max_wavelength=10_000.0, interleaved=False):
    """`x` `(L, H)` at positions `at`, pair by pair, as complex numbers in float64."""
    size = x.shape[-1]
    found = np.empty(x.shape)
    for pair in range(size // 2):
        first, second = (
            (2 * pair, 2 * pair + 1) if interleaved else (pair, pair + size // 2)
        )
        angle = at / max_wavelength ** (2 * pair / size)
        number = (x[:, first] + 1j * x[:, second]) * np.exp(1j * angle)
        found[:, first], found[:, second] = number.real, number.imag
    return found


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotation_turns_pairs(interleaved):
    x = tensor(2, 7, 3, 10)
    angles = positions.rotary_angles(ops.arange(7) + 4, 10, 50.0)
    found = to_numpy(positions.rotate(x, angles, interleaved))
    for batch in range(2):
        for head in range(3):
            expected = turned_by_hand(
                to_numpy(x)[batch, :, head], np.arange(4, 11), 50.0, interleaved
            )
            np.testing.assert_allclose(found[batch, :, head], expected, atol=2e-6)


def test_products_depend_on_the_distance_alone():
    query, key = tensor(1, 1, 1, 8), tensor(1, 1, 1, 8, seed=1)

    def product(query_position, key_position):
        turned = [
            positions.rotate(x, positions.rotary_angles(np.array([at]), 8))
            for x, at in ((query, query_position), (key, key_position))
        ]
        return float(ops.sum(turned[0] * turned[1]))

    assert product(9, 4) == pytest.approx(product(105, 100), abs=1e-4)
    assert product(9, 4) != pytest.approx(product(9, 5), abs=1e-2)


def test_linear_scaling_divides_positions():
    found = positions.rotary_angles(np.arange(8), 6, scaling=4.0)
    plain = to_numpy(positions.rotary_angles(np.arange(8), 6))
    np.testing.assert_allclose(to_numpy(found), plain / 4, rtol=1e-6)


def test_ntk_scaling_slows_the_slowest_pair_and_not_the_fastest():
    found = to_numpy(positions.rotary_angles(np.array([8]), 6, 500.0, 4.0, "ntk"))[0]
    plain = to_numpy(positions.rotary_angles(np.array([8]), 6, 500.0))[0]
    expected = 8 / (500.0 * 4.0 ** (6 / 4)) ** (2 * np.arange(3) / 6)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(found / plain, [1, 1 / 2, 1 / 4], rtol=1e-5)


@pytest.mark.parametrize(
    ("policy", "length", "tolerance"),
    [("mixed_float16", 4001, 2e-3), ("bfloat16", 600, 1e-2)],
)
def test_c32_rotations_in_half_precision(policy, length, tolerance):
    """C32: only the result is rounded, far positions stay apart."""
    dtype = policy.removeprefix("mixed_")
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        angles = positions.rotary_angles(ops.arange(length), 8)
        found = positions.rotate(ops.ones((1, length, 1, 8), dtype), angles)
    finally:
        keras.config.set_dtype_policy(before)
    assert keras.backend.standardize_dtype(angles.dtype) == "float32"
    assert keras.backend.standardize_dtype(found.dtype) == dtype
    found = to_numpy(found)[0, :, 0]
    expected = turned_by_hand(np.ones((length, 8)), np.arange(length))
    assert np.abs(found - expected).max() <= tolerance
    assert (found[256] != found[257]).any()
    assert (found[-2] != found[-1]).any()


# ------------------------------------------------------------------------------ biases


def test_relative_positions_are_aligned_to_the_end():
    expected = np.arange(7)[None] - (np.arange(3) + 4)[:, None]
    np.testing.assert_array_equal(
        to_numpy(positions.relative_positions(3, 7)), expected
    )
    found = positions.relative_positions(3, 7, query_offset=1)
    np.testing.assert_array_equal(to_numpy(found), expected + 3)


def slopes_of_the_paper(num_heads):
    """As published: github.com/ofirpress/attention_with_linear_biases."""

    def of_a_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(num_heads).is_integer():
        return of_a_power(num_heads)
    lower = 2 ** math.floor(math.log2(num_heads))
    further = slopes_of_the_paper(2 * lower)[0::2]
    return of_a_power(lower) + further[: num_heads - lower]


@pytest.mark.parametrize("num_heads", range(1, 34))
def test_alibi_slopes_are_those_of_the_paper(num_heads):
    found = positions.alibi_slopes(num_heads)
    assert found == pytest.approx(slopes_of_the_paper(num_heads), rel=1e-12)


def bucket_by_hand(relative, buckets, max_distance, bidirectional):
    """T5's rule for one distance, in exact integers: no logarithm, no rounding."""
    first = 0
    if bidirectional:
        buckets //= 2
        first = buckets if relative > 0 else 0
        distance = abs(relative)
    else:
        distance = max(-relative, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    ranges = buckets - exact
    # The greatest step with exact * (max_distance / exact)^(step / ranges) <= distance.
    step = max(
        step
        for step in range(ranges)
        if max_distance**step * exact**ranges <= distance**ranges * exact**step
    )
    return first + exact + step


@pytest.mark.parametrize(
    ("buckets", "max_distance"), [(32, 128), (64, 256), (10, 50), (4, 3), (6, 128)]
)
@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_those_of_t5(buckets, max_distance, bidirectional):
    relative = np.arange(-300, 301)
    found = positions.relative_buckets(relative, buckets, max_distance, bidirectional)
    expected = [
        bucket_by_hand(int(x), buckets, max_distance, bidirectional) for x in relative
    ]
    np.testing.assert_array_equal(to_numpy(found), expected)


@pytest.mark.parametrize("offset", [None, 1])
def test_relative_key_logits_equal_a_loop(offset):
    query, table = tensor(2, 5, 3, 11), tensor(2 * 2 + 1, 11, seed=1)
    found = to_numpy(positions.relative_key_logits(query, table, 7, offset))
    query, table = to_numpy(query).astype("float64"), to_numpy(table)
    expected = np.empty((2, 3, 5, 7))
    for i in range(5):
        for j in range(7):
            distance = np.clip(j - (i + (2 if offset is None else offset)), -2, 2)
            expected[:, :, i, j] = query[:, i] @ table[distance + 2] / np.sqrt(11)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


# -------------------------------------------------------------------- tables of weights


def test_a_longer_table_lies_between():
    table = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 9.0]], "float32")
    found = to_numpy(positions.resized(table, 6))
    expected = [[0, 1], [0.5, 2], [1.5, 4], [2.5, 6], [3.5, 8], [4, 9]]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("grid", "size"), [(None, 11), (None, 5), ((2, 3), (5, 7)), ((3, 5), (3, 4))]
)
def test_resizing_is_that_of_images(grid, size):
    """Bilinear with half-pixel centres, as `keras.ops.image.resize`."""
    old, new = ((7, 1), (size, 1)) if grid is None else (grid, size)
    table = tensor(math.prod(old), 4)
    found = to_numpy(positions.resized(table, size, grid))
    image = ops.reshape(table, (1, *old, 4))
    expected = ops.image.resize(
        image, new, interpolation="bilinear", data_format="channels_last"
    )
    np.testing.assert_allclose(
        found, np.reshape(to_numpy(expected), (-1, 4)), rtol=1e-5, atol=1e-6
    )


def test_the_same_size_changes_nothing():
    table = tensor(6, 4)
    for size, grid in ((6, None), ((2, 3), (2, 3))):
        found = positions.resized(table, size, grid)
        np.testing.assert_array_equal(to_numpy(found), to_numpy(table))


def test_a_grid_that_does_not_fit_is_refused():
    for size, grid in (((4, 4), (2, 2)), ((4,), (2, 3))):
        with pytest.raises(ValueError, match=r"`grid` must have as many positions"):
            positions.resized(tensor(6, 4), size, grid)
