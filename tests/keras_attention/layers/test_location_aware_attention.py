"""Location-aware attention against NumPy, and what the location is for."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import tensor, to_numpy

B, T, S, DQ, DK, V, U, F, WIDTH = 2, 5, 7, 3, 4, 6, 8, 2, 5


def built(query, value, key):
    """A layer with weights of size 1, the bias included."""
    layer = layers.LocationAwareAttention(U, filters=F, kernel_size=WIDTH)
    layer(query, value, key)
    random = np.random.default_rng(1)
    layer.set_weights([random.normal(size=x.shape) for x in layer.get_weights()])
    return layer


def test_equals_its_formula():
    """Equations 8 and 9, one step after the other in float64."""
    query, value, key = tensor(B, T, DQ), tensor(B, S, V), tensor(B, S, DK)
    layer = built(query, value, key)
    output, scores = layer(query, value, key, return_attention_scores=True)

    named = {x.path.split("/", 1)[1]: to_numpy(x) for x in layer.weights}
    projected = to_numpy(query).astype("float64") @ named["query/kernel"]
    keys = to_numpy(key).astype("float64") @ named["key/kernel"]
    previous = np.zeros((B, S))
    for step in range(T):
        padded = np.pad(previous, ((0, 0), (WIDTH // 2, WIDTH // 2)))
        features = np.stack(
            [padded[:, j : j + WIDTH] @ named["location_kernel"] for j in range(S)], 1
        )
        hidden = np.tanh(
            projected[:, step, None]
            + keys
            + features @ named["location/kernel"]
            + named["query/bias"]
        )
        exponentials = np.exp(hidden @ named["scale"])
        previous = exponentials / exponentials.sum(-1, keepdims=True)
        np.testing.assert_allclose(to_numpy(scores)[:, step], previous, atol=1e-5)
        context = np.einsum("bs,bsv->bv", previous, to_numpy(value))
        np.testing.assert_allclose(to_numpy(output)[:, step], context, atol=1e-5)


def test_the_first_step_is_additive_attention():
    """Before anything was looked at there is content alone."""
    query, value, key = tensor(B, T, DQ), tensor(B, S, V), tensor(B, S, DK)
    layer = layers.LocationAwareAttention(U, filters=F, kernel_size=WIDTH)
    found = layer(query, value, key)
    additive = layers.AdditiveAttention(U)
    additive(query, value, key)
    additive.query_dense.kernel.assign(layer.query_dense.kernel)
    additive.key_dense.kernel.assign(layer.key_dense.kernel)
    additive.score_variables[0].assign(layer.scale)
    expected = to_numpy(additive(query, value, key))
    np.testing.assert_allclose(to_numpy(found)[:, 0], expected[:, 0], atol=1e-6)
    assert not np.allclose(to_numpy(found)[:, 1:], expected[:, 1:], atol=1e-3)


def test_steps_on_where_content_says_nothing():
    """Equal keys: a filter that looks back by one moves the score on by one."""
    query, value = ops.zeros((1, S, 1)), ops.zeros((1, S, 1))
    layer = layers.LocationAwareAttention(1, filters=1, kernel_size=3)
    layer(query, value)
    layer.location_kernel.assign([[1.0], [0.0], [0.0]])
    layer.location_dense.kernel.assign([[3.0]])
    layer.scale.assign([20.0])
    start = np.eye(S, dtype="float32")[:1]
    _, scores = layer.attend_projected(
        layer.project_query(query),
        layer.project_key(value),
        layer.project_value(value),
        return_attention_scores=True,
        previous=ops.convert_to_tensor(start),
    )
    at = to_numpy(scores)[0, : S - 1].argmax(-1)
    np.testing.assert_array_equal(at, np.arange(1, S))


def test_number_of_parameters_is_that_of_the_docstring():
    query, value, key = tensor(B, T, DQ), tensor(B, S, V), tensor(B, S, DK)
    layer = built(query, value, key)
    assert layer.count_params() == (DQ + DK + F + 2) * U + WIDTH * F


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filters": 0}, "`filters` must be a positive integer"),
        ({"kernel_size": 0}, "`kernel_size` must be a positive integer"),
        ({"kernel_size": 4}, "`kernel_size` must be odd"),
    ],
)
def test_wrong_arguments_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        layers.LocationAwareAttention(U, **options)


def test_cumulative_sees_all_steps_before():
    """Equation 11 of See et al.: `tanh(W s + V h + u c + b)` with the coverage c."""
    query, value = tensor(B, T, DQ), tensor(B, S, V)
    layer = layers.LocationAwareAttention(U, filters=1, kernel_size=1, cumulative=True)
    layer(query, value)
    random = np.random.default_rng(1)
    layer.set_weights([random.normal(size=x.shape) for x in layer.get_weights()])
    _, scores = layer(query, value, return_attention_scores=True)
    named = {x.path.split("/", 1)[1]: to_numpy(x) for x in layer.weights}
    coverage = np.zeros((B, S))
    of_coverage = named["location_kernel"][0, 0] * named["location/kernel"][0]
    for step in range(T):
        hidden = np.tanh(
            to_numpy(query)[:, step, None] @ named["query/kernel"]
            + named["query/bias"]
            + to_numpy(value) @ named["key/kernel"]
            + coverage[..., None] * of_coverage
        )
        exponentials = np.exp(hidden @ named["scale"])
        expected = exponentials / exponentials.sum(-1, keepdims=True)
        np.testing.assert_allclose(to_numpy(scores)[:, step], expected, atol=1e-5)
        coverage = coverage + expected
