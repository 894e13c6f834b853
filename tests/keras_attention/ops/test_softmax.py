"""The masked softmax: values, exact zeros, gradients, dtypes."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.ops import masked_softmax
from tests.backend import tensor, to_numpy, value_and_gradients

MASK = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 1], [1, 1, 1]], bool)


def by_hand(logits, mask):
    """Softmax over the allowed entries alone, in float64."""
    result = np.zeros(logits.shape)
    for row in np.ndindex(logits.shape[:-1]):
        allowed = np.broadcast_to(mask, logits.shape)[row]
        if allowed.any():
            numbers = np.exp(logits[row][allowed] - logits[row][allowed].max())
            result[row][allowed] = numbers / numbers.sum()
    return result


def test_equals_the_softmax_over_allowed_entries():
    logits = 5 * tensor(2, 4, 3)
    expected = by_hand(to_numpy(logits).astype("float64"), MASK)
    found = to_numpy(masked_softmax(logits, ops.convert_to_tensor(MASK)))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert (found[:, ~MASK] == 0).all()


def test_without_a_mask_is_keras_softmax():
    logits = tensor(4, 3)
    np.testing.assert_array_equal(
        to_numpy(masked_softmax(logits)), to_numpy(ops.softmax(logits))
    )


@pytest.mark.parametrize("extreme", [np.nan, np.inf, -np.inf, 3e38])
def test_hidden_logits_have_no_say(extreme):
    logits = to_numpy(tensor(4, 3)).copy()
    expected = masked_softmax(ops.convert_to_tensor(logits), MASK)
    logits[~MASK] = extreme
    found = masked_softmax(ops.convert_to_tensor(logits), MASK)
    np.testing.assert_array_equal(to_numpy(found), to_numpy(expected))


def test_gradient_is_zero_where_hidden():
    mask = ops.convert_to_tensor(MASK)
    _, (gradient,) = value_and_gradients(
        lambda logits: masked_softmax(logits, mask), tensor(4, 3)
    )
    assert (gradient[~MASK] == 0).all()
    assert (gradient[3] != 0).all()


def test_single_key_without_a_warning():
    """Keras warns of a softmax over an axis of size 1; for attention it is right."""
    mask = ops.convert_to_tensor([[True], [False]])
    value, (gradient,) = value_and_gradients(
        lambda logits: masked_softmax(logits, mask), tensor(2, 1)
    )
    assert value.tolist() == [[1.0], [0.0]]
    assert (gradient == 0).all()


def test_gradient_of_large_logits_is_finite():
    mask = ops.convert_to_tensor(MASK)
    value, (gradient,) = value_and_gradients(
        lambda logits: masked_softmax(logits, mask), 1e4 * tensor(4, 3)
    )
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_c05_mask_fits_every_dtype(dtype):
    """C05: no constant overflows; computed in at least float32."""
    if dtype == "float64" and keras.backend.backend() == "jax":
        pytest.skip("JAX holds float64 only when x64 is enabled")
    logits = ops.zeros((1, 3), dtype=dtype)
    scores = masked_softmax(logits, ops.convert_to_tensor([True, True, False]))
    wide = "float64" if dtype == "float64" else "float32"
    assert keras.backend.standardize_dtype(scores.dtype) == wide
    assert to_numpy(scores).tolist() == [[0.5, 0.5, 0.0]]


def test_a_sink_is_a_column_more_that_is_left_out():
    logits, sink = tensor(2, 3, 5), tensor(2, 1, 1, seed=1)
    mask = np.random.default_rng(0).integers(0, 2, (2, 3, 5)).astype(bool)
    mask[0, 0] = False
    found = to_numpy(masked_softmax(logits, mask, sink)).astype("float64")
    column = np.broadcast_to(to_numpy(sink), (2, 3, 1))
    exp = np.exp(np.concatenate([to_numpy(logits), column], -1, dtype="float64"))
    exp[..., :-1][~mask] = 0
    expected = (exp / exp.sum(-1, keepdims=True))[..., :-1]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (found[0, 0] == 0).all()
