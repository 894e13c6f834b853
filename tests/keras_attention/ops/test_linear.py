"""Linear attention against the quadratic form in NumPy; features; memory."""

import numpy as np
import pytest
from keras import ops

from keras_attention.ops import linear
from tests.backend import (
    BACKEND,
    compiled,
    jax_only,
    second_gradient,
    slow_on_jax,
    tensor,
    to_numpy,
    value_and_gradients,
)

B, N, F, V = 2, 3, 5, 7

# Sums of a few hundred float32 numbers in another order.
CLOSE = {"rtol": 1e-5, "atol": 1e-5}

CHUNK = linear.CHUNK
LENGTHS = [
    (5, 7),
    (7, 5),
    (1, CHUNK + 1),
    (CHUNK, CHUNK),
    (2 * CHUNK + 3, CHUNK + 2),
]


def problem(query_length, key_length):
    """Features of queries and keys, and values."""
    query, key = tensor(B, query_length, N, F), tensor(B, key_length, N, F, seed=1)
    return ops.exp(query), ops.exp(key), tensor(B, key_length, N, V, seed=2)


def quadratic(query, key, value, allowed=None):
    """All weights `(B, N, T, S)` spelled out, in float64."""
    query, key, value = (to_numpy(x).astype("float64") for x in (query, key, value))
    weights = np.einsum("btnf,bsnf->bnts", query, key)
    if allowed is not None:
        weights = weights * allowed
    total = weights.sum(-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.einsum("bnts,bsnv->btnv", weights, value)


def triangle(query_length, key_length):
    return np.tril(np.ones((query_length, key_length)), key_length - query_length)


def heads(rows):
    """`(L, size)` as one sequence with one head."""
    return ops.convert_to_tensor(np.array(rows, "float32")[None, :, None])


# -------------------------------------------------------------------------- named case


def test_c27_linear_attention_denominator_and_padding():
    """C27: padded keys are in no sum, causal sums see no future."""
    query = linear.elu_features(heads([[0, 1], [-1, 2], [0.5, -0.5]]))
    key = linear.elu_features(heads([[1, 0], [0, -2], [3, 3]]))
    value = heads([[1, 0], [0, 1], [5, 5]])
    mask = np.array([[1, 1, 0]])
    found = linear.linear_attention(query, key, value, mask=mask)
    expected = [[0.758917, 0.241083], [0.828393, 0.171607], [0.695085, 0.304915]]
    np.testing.assert_allclose(to_numpy(found)[0, :, 0], expected, atol=1e-6)
    np.testing.assert_allclose(
        to_numpy(found), quadratic(query, key, value, mask), atol=1e-6
    )
    found = linear.linear_attention(query, key, value, use_causal_mask=True)
    expected = [[1, 0], [0.828393, 0.171607], [3.359385, 3.210690]]
    np.testing.assert_allclose(to_numpy(found)[0, :, 0], expected, atol=1e-6)
    np.testing.assert_allclose(
        to_numpy(found), quadratic(query, key, value, triangle(3, 3)), atol=1e-6
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_c27_half_precision_does_not_overflow(dtype):
    """C27: sums of 2,000 keys are beyond float16, and beyond bfloat16's digits."""
    key = ops.full((1, 2000, 1, 2), 100.0, dtype)
    value = ops.full((1, 2000, 1, 1), 2.0, dtype)
    for causal in (False, True):
        found = linear.linear_attention(key[:, :1], key, value, use_causal_mask=causal)
        np.testing.assert_array_equal(to_numpy(found), [[[[2.0]]]])


# ------------------------------------------------------------------------------ parity


@pytest.mark.parametrize("lengths", slow_on_jax(LENGTHS, (5, 7)), ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_equals_the_quadratic_form(lengths, causal):
    tensors = problem(*lengths)
    found = linear.linear_attention(*tensors, use_causal_mask=causal)
    allowed = triangle(*lengths) if causal else None
    np.testing.assert_allclose(to_numpy(found), quadratic(*tensors, allowed), **CLOSE)


def by_pairs(query, key, value, allowed):
    """The quadratic form in the backend, to differentiate."""
    weights = ops.einsum("btnf,bsnf->bnts", query, key) * allowed
    total = ops.sum(weights, axis=-1, keepdims=True)
    weights = weights / ops.where(total > 0, total, ops.ones_like(total))
    return ops.einsum("bnts,bsnv->btnv", weights, value)


@pytest.mark.parametrize("lengths", slow_on_jax(LENGTHS, (5, 7)), ids=str)
def test_causal_gradients_equal_those_of_the_quadratic_form(lengths):
    tensors = problem(*lengths)
    allowed = ops.convert_to_tensor(triangle(*lengths), "float32")

    def chunked(*tensors):
        return linear.linear_attention(*tensors, use_causal_mask=True)

    _, found = value_and_gradients(chunked, *tensors)
    _, expected = value_and_gradients(lambda *x: by_pairs(*x, allowed), *tensors)
    for x, y in zip(found, expected, strict=True):
        # The gradient of a value sums over all queries.
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=3e-5)


def test_second_gradients_hold_too():
    """The gradient is made of the same product, so it has a gradient of its own."""
    tensors = problem(5, 5)
    allowed = ops.convert_to_tensor(triangle(5, 5), "float32")

    def chunked(*tensors):
        return linear.linear_attention(*tensors, use_causal_mask=True)

    found = second_gradient(chunked, *tensors)
    expected = second_gradient(lambda *x: by_pairs(*x, allowed), *tensors)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_masks_hide_keys_and_queries():
    tensors = problem(5, 7)
    keys = np.random.default_rng(0).integers(0, 2, (B, 7))
    keys[0], keys[1, 0] = 0, 1  # the first sequence has no key
    queries = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 0, 1]])
    for causal in (False, True):
        found = linear.linear_attention(
            *tensors, mask=keys, query_mask=queries, use_causal_mask=causal
        )
        allowed = keys[:, None, None, :] * queries[:, None, :, None]
        allowed = allowed * triangle(5, 7) if causal else allowed
        expected = quadratic(*tensors, allowed)
        np.testing.assert_allclose(to_numpy(found), expected, **CLOSE)
        assert (to_numpy(found)[0] == 0).all()
        assert (to_numpy(found)[1, 1] == 0).all()


@pytest.mark.skipif(BACKEND != "tensorflow", reason="lengths of graphs")
def test_lengths_unknown_before_run_time():
    import tensorflow as tf

    signature = [tf.TensorSpec((None, None, N, size)) for size in (F, F, V)]

    @tf.function(input_signature=signature)
    def attend(query, key, value):
        return linear.linear_attention(query, key, value, use_causal_mask=True)

    for lengths in [(5, 7), (7, 5), (CHUNK + 2, CHUNK + 9)]:
        tensors = problem(*lengths)
        expected = quadratic(*tensors, triangle(*lengths))
        np.testing.assert_allclose(to_numpy(attend(*tensors)), expected, **CLOSE)


# ----------------------------------------------------------------------------- streams


@pytest.mark.parametrize("lengths", [(1, 1, 1), (2, 3)], ids=str)
def test_steps_equal_the_whole_sequence(lengths):
    tensors = problem(sum(lengths), sum(lengths))
    expected = to_numpy(linear.linear_attention(*tensors, use_causal_mask=True))
    state = linear.linear_state(B, N, F, V, "float32")
    outputs, start = [], 0
    for length in lengths:
        now = (x[:, start : start + length] for x in tensors)
        output, state = linear.linear_step(*now, state)
        outputs.append(to_numpy(output))
        start += length
    assert tuple(state.shape) == (B, N, F, V + 1)
    np.testing.assert_allclose(np.concatenate(outputs, 1), expected, **CLOSE)


def test_hidden_keys_leave_no_trace_in_the_state():
    query, key, value = problem(3, 3)
    state = linear.linear_state(B, N, F, V, "float32")
    mask = np.array([[1, 1, 0]] * B)
    _, found = linear.linear_step(query, key, value, state, mask)
    _, expected = linear.linear_step(query[:, :2], key[:, :2], value[:, :2], state)
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), **CLOSE)


# ---------------------------------------------------------------------------- features


def test_elu_features_equal_their_formula():
    x = np.linspace(-5, 5, 41)
    expected = np.where(x > 0, x, np.expm1(x)) + 1
    found = to_numpy(linear.elu_features(ops.convert_to_tensor(x, "float32")))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_elu_features_stay_positive_with_their_gradient():
    x = ops.convert_to_tensor(np.array([-60.0, -17.0, 0.0, 90.0], "float32"))
    found, (gradient,) = value_and_gradients(linear.elu_features, x)
    assert (found > 0).all()
    assert np.isfinite(gradient).all()
    np.testing.assert_allclose(found[:2], np.exp([-60.0, -17.0]), rtol=1e-5)


def test_elu_features_are_float32_at_least():
    found = linear.elu_features(tensor(3, dtype="float16"))
    assert "float32" in str(found.dtype)


def test_directions_are_orthogonal_in_blocks():
    directions = linear.random_directions(8, 20, seed=0)
    assert directions.shape == (8, 20)
    for block in (directions[:, :8], directions[:, 8:16]):
        products = block.T @ block
        np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-9)
    free = linear.random_directions(8, 20, orthogonal=False, seed=0)
    assert abs(free[:, 0] @ free[:, 1]) > 1e-3


@pytest.mark.parametrize("orthogonal", [False, True])
def test_random_features_are_unbiased(orthogonal):
    """Lemma 1: the mean over many directions is the softmax's exponential."""
    query, key = (0.5 * np.random.default_rng(i).normal(size=(3, 8)) for i in (0, 1))
    directions = linear.random_directions(8, 200_000, orthogonal, seed=0)
    features = [
        to_numpy(
            ops.exp(linear.log_random_features(ops.convert_to_tensor(x), directions))
        )
        for x in (query, key)
    ]
    found = features[0] @ features[1].T / directions.shape[1]
    expected = np.exp(query @ key.T / np.sqrt(8))
    np.testing.assert_allclose(found, expected, rtol=0.01)


# ------------------------------------------------------------------------------ memory


@jax_only
@pytest.mark.jax
def test_causal_memory_is_that_of_one_chunk():
    """No sums per position, `(B, T, N, F, V)`, and no `T x T`, in either direction."""
    import jax

    length, size = 4096, 32
    x = ops.ones((1, length, 1, size))

    def loss(*tensors):
        output = linear.linear_attention(*tensors, use_causal_mask=True)
        return ops.sum(ops.square(output))

    step = jax.jit(jax.grad(loss, (0, 1, 2)))
    used = step.lower(x, x, x).compile().memory_analysis().temp_size_in_bytes
    # A few copies of the inputs; sums per position would be `size` times one of them.
    assert used < 20 * 4 * length * size


@pytest.mark.skipif(BACKEND == "torch", reason="Keras compiles nothing on PyTorch")
def test_compiled_equals_eager():
    tensors = problem(CHUNK + 3, CHUNK + 3)

    def attend(*tensors):
        return linear.linear_attention(*tensors, use_causal_mask=True)

    expected = to_numpy(attend(*tensors))
    np.testing.assert_allclose(to_numpy(compiled(attend)(*tensors)), expected, **CLOSE)


def test_float_masks_are_refused():
    tensors = problem(5, 7)
    with pytest.raises(ValueError, match="`mask` must be bool or int"):
        linear.linear_attention(*tensors, mask=np.ones((B, 7), "float32"))
    with pytest.raises(ValueError, match="`query_mask` must be bool or int"):
        linear.linear_attention(*tensors, query_mask=np.ones((B, 5), "float32"))
