"""What the attentions share that continue from the scores of the step before."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.layers._alignment import AlignmentAttention
from tests.backend import tensor, to_numpy

B, T, S, D, M = 2, 5, 7, 3, 4

KINDS = [
    lambda **options: layers.LocationAwareAttention(
        6, filters=2, kernel_size=3, **options
    ),
    lambda **options: layers.MonotonicAttention(6, **options),
]


@pytest.fixture(params=KINDS, ids=["location_aware", "monotonic"])
def make(request):
    return request.param


def run(layer, query, value, **options):
    output, scores = layer(query, value, return_attention_scores=True, **options)
    return to_numpy(output), to_numpy(scores)


def test_output_is_the_mean_under_the_scores(make):
    query, value = tensor(B, T, D), tensor(B, S, M)
    output, scores = run(make(), query, value)
    np.testing.assert_allclose(output, scores @ to_numpy(value), atol=1e-6)


def test_a_step_depends_on_the_one_before(make):
    """Another first query changes the scores of the second, never the other way."""
    query, value, layer = to_numpy(tensor(B, T, D)), tensor(B, S, M), make()
    _, before = run(layer, query, value)
    changed = query.copy()
    changed[:, 1] += 3
    _, after = run(layer, changed, value)
    np.testing.assert_array_equal(after[:, 0], before[:, 0])
    assert np.abs(after[:, 2] - before[:, 2]).max() > 1e-5


def test_padded_queries_are_passed_over(make):
    """Also in the middle: what is left are the steps without them."""
    query, value, layer = to_numpy(tensor(B, T, D)), tensor(B, S, M), make()
    mask = np.array([[0, 1, 1, 0, 1]] * B, bool)
    real = np.flatnonzero(mask[0])
    _, expected = run(layer, query[:, real], value)
    dirty = np.where(mask[..., None], query, np.nan)
    _, found = run(layer, dirty, value, query_mask=mask)
    np.testing.assert_allclose(found[:, real], expected, atol=1e-6)
    assert (found[:, ~mask[0]] == 0).all()


def test_padded_keys_are_as_if_they_were_not_there(make):
    query, value, layer = tensor(B, T, D), to_numpy(tensor(B, S, M)).copy(), make()
    output, expected = run(layer, query, value[:, :4])
    value[:, 4:] = np.inf
    mask = np.arange(S)[None] < np.full((B, 1), 4)
    found, scores = run(layer, query, value, value_mask=mask)
    np.testing.assert_allclose(scores[..., :4], expected, atol=1e-6)
    np.testing.assert_allclose(found, output, atol=1e-6)
    assert (scores[..., 4:] == 0).all()


def test_a_step_at_a_time_is_the_whole(make):
    """`previous` continues; the positions are those of the whole."""
    query, value, layer = tensor(B, T, D), tensor(B, S, M), make()
    _, whole = run(layer, query, value)
    keys, values = layer.project_key(value), layer.project_value(value)
    previous = layer.first_alignments(keys)
    for step in range(T):
        _, scores = layer.attend_projected(
            layer.project_query(query[:, step : step + 1]),
            keys,
            values,
            return_attention_scores=True,
            previous=previous,
        )
        previous = scores[:, 0]
        np.testing.assert_allclose(to_numpy(previous), whole[:, step], atol=1e-6)


def test_a_bias_hides_like_a_mask(make):
    query, value, layer = tensor(B, T, D), tensor(B, S, M), make()
    bias = np.zeros((T, S), "float32")
    bias[:, 3] = -1e9
    mask = bias == 0
    found, _ = run(layer, query, value, attention_bias=bias)
    expected, _ = run(layer, query, value, attention_mask=mask)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_c13_scores_are_those_before_dropout(make):
    query, value = tensor(B, T, D), tensor(B, S, M)
    layer = make(dropout=0.5, seed=1)
    plain, scores = run(layer, query, value)
    dropped, before = run(layer, query, value, training=True)
    np.testing.assert_allclose(before, scores, atol=1e-6)
    assert not np.allclose(dropped, plain, atol=1e-3)


def test_flash_attention_is_refused(make):
    with pytest.raises(ValueError, match="`flash_attention` must be None or False"):
        make(flash_attention=True)


@pytest.mark.parametrize(
    "kind", [layers.LocationAwareAttention, layers.MonotonicAttention]
)
def test_wrong_units_are_refused(kind):
    with pytest.raises(ValueError, match="`units` must be a positive integer"):
        kind(0)


def test_a_layer_says_how_it_scores():
    layer, rows = AlignmentAttention(3), ops.zeros((B, S))
    for method in (
        lambda: layer.energies(rows, rows, rows),
        lambda: layer.normalise(rows, rows, None),
        lambda: layer.first_alignments(rows),
    ):
        with pytest.raises(NotImplementedError):
            method()
