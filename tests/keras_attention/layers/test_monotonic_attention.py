"""Soft monotonic attention against NumPy: it only moves forward."""

import numpy as np

from keras_attention import layers
from tests.backend import tensor, to_numpy

B, T, S, DQ, DK, V, U = 2, 5, 7, 3, 4, 6, 8


def built(query, value, key=None):
    """A layer with weights of size 1, scalars and bias included."""
    layer = layers.MonotonicAttention(U)
    layer(query, value, key)
    random = np.random.default_rng(1)
    layer.set_weights([random.normal(size=x.shape) for x in layer.get_weights()])
    return layer


def test_equals_its_formula():
    """The walk of every step, position by position, in float64."""
    query, value, key = tensor(B, T, DQ), tensor(B, S, V), tensor(B, S, DK)
    layer = built(query, value, key)
    output, scores = layer(query, value, key, return_attention_scores=True)

    named = {x.path.split("/", 1)[1]: to_numpy(x) for x in layer.weights}
    projected = to_numpy(query).astype("float64") @ named["query/kernel"]
    keys = to_numpy(key).astype("float64") @ named["key/kernel"]
    unit = named["scale"] / np.linalg.norm(named["scale"])
    previous = np.eye(S)[[0] * B]
    for step in range(T):
        hidden = np.tanh(projected[:, step, None] + keys + named["query/bias"])
        logits = named["gain"] * hidden @ unit + named["offset"]
        stop, reach = 1 / (1 + np.exp(-logits)), np.zeros(B)
        expected = np.zeros((B, S))
        for j in range(S):
            reach = reach + previous[:, j]
            expected[:, j] = stop[:, j] * reach
            reach = reach * (1 - stop[:, j])
        previous = expected
        np.testing.assert_allclose(to_numpy(scores)[:, step], expected, atol=1e-6)
        context = np.einsum("bs,bsv->bv", expected, to_numpy(value))
        np.testing.assert_allclose(to_numpy(output)[:, step], context, atol=1e-5)


def test_never_goes_back():
    """The share that has reached position `j` never grows from step to step."""
    query, value = tensor(B, T, DQ), tensor(B, S, V)
    _, scores = built(query, value)(query, value, return_attention_scores=True)
    not_beyond = np.cumsum(to_numpy(scores), axis=-1)
    assert (np.diff(not_beyond, axis=1) <= 1e-6).all()
    assert (not_beyond <= 1 + 1e-6).all()


def test_masks_hide_and_are_and_ed():
    """The contract's property, for scores that may be 0 where they are allowed."""
    query, value = tensor(B, T, DQ), tensor(B, S, V)
    random = np.random.default_rng(2)
    mask = random.integers(0, 2, (T, S)).astype(bool)
    keys = random.integers(0, 2, (B, S)).astype(bool)
    options = {"attention_mask": mask, "value_mask": keys, "use_causal_mask": True}
    _, scores = built(query, value)(
        query, value, return_attention_scores=True, **options
    )
    joined = keys[:, None] & mask & np.tril(np.ones((T, S), bool), S - T)
    assert (to_numpy(scores)[~joined] == 0).all()
    assert (to_numpy(scores) > 0).any()


def test_starts_at_its_offset():
    """Before training `p` is about `sigmoid(offset)`: it stops early or late."""
    query, value = tensor(B, T, DQ), tensor(B, S, V)

    def first(offset):
        layer = layers.MonotonicAttention(U, offset=offset)
        _, scores = layer(query, value, return_attention_scores=True)
        return to_numpy(scores)[:, 0, 0]

    assert (first(6.0) > 0.95).all()
    assert (first(-6.0) < 0.05).all()


def test_number_of_parameters_is_that_of_the_docstring():
    query, value, key = tensor(B, T, DQ), tensor(B, S, V), tensor(B, S, DK)
    assert built(query, value, key).count_params() == (DQ + DK + 2) * U + 2
