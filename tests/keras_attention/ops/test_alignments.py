"""Alignments that depend on those before: NumPy loops, extremes, gradients."""

import numpy as np
import pytest
from keras import ops

from keras_attention.ops import alignments
from keras_attention.ops.softmax import masked_softmax
from tests.backend import (
    BACKEND,
    compiled,
    tensor,
    tensorflow_only,
    to_numpy,
    value_and_gradients,
)

B, T, S, H = 2, 5, 7, 3


def monotonic_by_hand(logits, previous, allowed=None):
    """The walk, position by position."""
    stop = 1 / (1 + np.exp(-np.asarray(logits, "float64")))
    stop = stop if allowed is None else stop * allowed
    result, reach = np.zeros_like(stop), np.zeros(len(stop))
    for j in range(stop.shape[1]):
        reach = reach + previous[:, j]
        result[:, j] = stop[:, j] * reach
        reach = reach * (1 - stop[:, j])
    return result


def distribution(*shape, seed=0):
    numbers = np.random.default_rng(seed).random(shape)
    return (numbers / numbers.sum(-1, keepdims=True)).astype("float32")


# -------------------------------------------------------------------------- monotonic


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 9, 64, 100])
def test_monotonic_is_the_expectation_over_walks(length):
    logits, previous = 2 * tensor(B, length), distribution(B, length)
    found = alignments.monotonic(logits, ops.convert_to_tensor(previous), None)
    expected = monotonic_by_hand(to_numpy(logits), previous)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-6)
    assert (to_numpy(found).sum(-1) <= 1 + 1e-6).all()


def test_monotonic_agrees_with_the_published_recurrence():
    """Equation 9 with its division by `p`, where that is safe."""
    logits, previous = to_numpy(tensor(B, S)).astype("float64"), distribution(B, S)
    stop, expected = 1 / (1 + np.exp(-logits)), np.zeros((B, S))
    expected[:, 0] = stop[:, 0] * previous[:, 0]
    for j in range(1, S):
        before = expected[:, j - 1] / stop[:, j - 1]
        expected[:, j] = stop[:, j] * ((1 - stop[:, j - 1]) * before + previous[:, j])
    found = alignments.monotonic(tensor(B, S), ops.convert_to_tensor(previous), None)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-6)


def test_a_sure_walk_is_hard():
    """Where every `p` is 0 or 1 one stops at the first 1 from where one was."""
    sure = ops.convert_to_tensor(np.array([[-1, 1, -1, -1, 1, 1]], "float32") * 1e4)
    at = ops.convert_to_tensor(np.array([[0, 0, 1, 0, 0, 0]], "float32"))
    found = to_numpy(alignments.monotonic(sure, at, None))
    np.testing.assert_array_equal(found, [[0, 0, 0, 0, 1, 0]])


def test_monotonic_stays_finite_where_products_vanish():
    """500 sure stops in a row: their product is 0, which nothing is divided by."""
    logits = ops.convert_to_tensor(np.full((1, 500), 60.0, "float32"))
    previous = ops.convert_to_tensor(np.full((1, 500), 1 / 500, "float32"))

    def walk(logits, previous):
        return alignments.monotonic(logits, previous, None)

    found, gradients = value_and_gradients(walk, logits, previous)
    np.testing.assert_allclose(found, 1 / 500, atol=1e-6)
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_hidden_positions_are_walked_past():
    logits, previous = tensor(B, S), distribution(B, S)
    allowed = np.random.default_rng(2).integers(0, 2, (B, S)).astype(bool)
    found = alignments.monotonic(
        logits, ops.convert_to_tensor(previous), ops.convert_to_tensor(allowed)
    )
    expected = monotonic_by_hand(to_numpy(logits), previous, allowed)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-6)
    assert (to_numpy(found)[~allowed] == 0).all()


@tensorflow_only
@pytest.mark.parametrize("length", [1, 2, 5, 8, 129])
def test_a_length_known_at_run_time_gives_the_same(length):
    import tensorflow as tf

    signature = [tf.TensorSpec((None, None))] * 2
    walk = tf.function(
        lambda *given: alignments.monotonic(*given, None),
        input_signature=signature,
        autograph=False,
    )
    logits, previous = tensor(B, length), distribution(B, length)
    expected = monotonic_by_hand(to_numpy(logits), previous)
    np.testing.assert_allclose(to_numpy(walk(logits, previous)), expected, atol=1e-6)


# --------------------------------------------------------------------------- location


def test_location_features_are_a_convolution():
    """Equation 8, position by position, zeros beyond both ends."""
    previous, kernel = distribution(B, S), to_numpy(tensor(5, 3)).astype("float64")
    found = alignments.location_features(
        ops.convert_to_tensor(previous), ops.convert_to_tensor(kernel, "float32")
    )
    padded = np.pad(previous, ((0, 0), (2, 2)))
    expected = np.stack([padded[:, j : j + 5] @ kernel for j in range(S)], axis=1)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-6)


# ----------------------------------------------------------------------------- follow


def energies_over(keys):
    """Logits that depend on the query and on what the step before saw."""

    def energies(query, previous):
        return ops.einsum("bh,bsh->bs", query, keys) + 3 * previous

    return energies


def softmax_step(logits, previous, allowed):
    del previous
    return masked_softmax(logits, allowed)


def follow_by_hand(query, keys, previous, allowed, bias):
    query, keys = (to_numpy(x).astype("float64") for x in (query, keys))
    scores = np.zeros((B, T, S))
    for step in range(T):
        logits = np.einsum("bh,bsh->bs", query[:, step], keys) + 3 * previous
        exponentials = np.exp(logits + bias[:, step]) * allowed[:, step]
        sums = exponentials.sum(-1, keepdims=True)
        scores[:, step] = exponentials / np.where(sums == 0, 1, sums)
        previous = np.where(sums == 0, previous, scores[:, step])
    return scores


def test_follow_hands_on_the_scores():
    query, keys, bias = tensor(B, T, H), tensor(B, S, H), tensor(B, T, S)
    allowed = np.random.default_rng(3).integers(0, 2, (B, T, S)).astype(bool)
    allowed[:, 2] = False  # a query with nothing to attend is passed over
    previous = distribution(B, S)
    found = alignments.follow(
        energies_over(keys),
        softmax_step,
        query,
        ops.convert_to_tensor(previous),
        ops.convert_to_tensor(allowed),
        bias,
    )
    expected = follow_by_hand(query, keys, previous, allowed, to_numpy(bias))
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-6)
    assert (to_numpy(found)[:, 2] == 0).all()


def test_follow_in_parts_is_the_whole():
    query, keys = tensor(B, T, H), tensor(B, S, H)
    start = ops.zeros((B, S))
    whole = alignments.follow(energies_over(keys), softmax_step, query, start)
    first = alignments.follow(energies_over(keys), softmax_step, query[:, :2], start)
    rest = alignments.follow(
        energies_over(keys), softmax_step, query[:, 2:], first[:, -1]
    )
    parts = np.concatenate([to_numpy(first), to_numpy(rest)], axis=1)
    np.testing.assert_allclose(parts, to_numpy(whole), atol=1e-6)


def test_scores_are_handed_on_in_the_dtype_of_the_state():
    query, keys = tensor(B, T, H), tensor(B, S, H)
    start = ops.zeros((B, S), "bfloat16")
    found = alignments.follow(energies_over(keys), softmax_step, query, start)
    previous, expected = ops.zeros((B, S)), []
    for step in range(T):
        logits = energies_over(keys)(query[:, step], previous)
        scores = softmax_step(logits, None, None)
        previous = ops.cast(ops.cast(scores, "bfloat16"), "float32")
        expected.append(to_numpy(scores))
    np.testing.assert_allclose(to_numpy(found), np.stack(expected, 1), atol=1e-6)


@pytest.mark.parametrize(
    "jit", [False, pytest.param(True, marks=[tensorflow_only, pytest.mark.slow])]
)
def test_gradients_are_those_of_the_loop_written_out(jit):
    query, keys = tensor(B, T, H), tensor(B, S, H)

    def scanned(query, keys):
        start = ops.zeros((B, S))
        return alignments.follow(energies_over(keys), softmax_step, query, start)

    def written_out(query, keys):
        previous, scores = ops.zeros((B, S)), []
        for step in range(T):
            logits = energies_over(keys)(query[:, step], previous)
            previous = softmax_step(logits, None, None)
            scores.append(previous)
        return ops.stack(scores, axis=1)

    options = {"jit": jit} if BACKEND == "tensorflow" else {}
    _, found = value_and_gradients(scanned, query, keys, **options)
    _, expected = value_and_gradients(written_out, query, keys)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)


def test_compiled_is_as_eager():
    query, keys = tensor(B, T, H), tensor(B, S, H)

    def scanned(query, keys):
        start = ops.zeros((B, S))
        return alignments.follow(
            energies_over(keys), alignments.monotonic, query, start + 0.1
        )

    found = compiled(scanned)(query, keys)
    np.testing.assert_allclose(
        to_numpy(found), to_numpy(scanned(query, keys)), atol=1e-6
    )
