"""Attention over chosen axes: shapes, orders, masks of the flattened sequence."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from keras_attention.layers import _axes
from tests.backend import mask_of, tensor, to_numpy, with_mask

B, A, T, S, D, N = 2, 3, 5, 7, 11, 2

EXACT = {"rtol": 0, "atol": 1e-6}


def test_axes_are_counted_from_the_front():
    assert _axes.attended(5, (-2, 1)) == (3, 1)
    assert _axes.attended(5, None) == (1, 2, 3)


@pytest.mark.parametrize("axes", [(0,), (3,), (-1,), (1, 1), (1, -3), (7,)], ids=str)
def test_other_axes_are_refused(axes):
    with pytest.raises(ValueError, match="`attention_axes` must be different axes"):
        _axes.attended(4, axes)


def test_as_tuple():
    assert _axes.as_tuple(None) is None
    assert _axes.as_tuple(3) == (3,)
    assert _axes.as_tuple([1, 2]) == (1, 2)


def attention(axes):
    layer = layers.MultiHeadAttention(N, 4, attention_axes=axes)
    layer.build((B, A, T, D), (B, A, S, D))
    return layer


def test_each_free_position_is_a_sequence_of_its_own():
    layer, query, value = attention(2), tensor(B, A, T, D), tensor(B, A, S, D, seed=1)
    output, scores = layer(query, value, return_attention_scores=True)
    assert scores.shape == (B, A, N, T, S)
    for a in range(A):
        alone, alone_scores = layers.MultiHeadAttention.call(
            layer, query[:, a], value[:, a], return_attention_scores=True
        )
        np.testing.assert_allclose(to_numpy(output)[:, a], to_numpy(alone), **EXACT)
        np.testing.assert_allclose(
            to_numpy(scores)[:, a], to_numpy(alone_scores), **EXACT
        )


def test_two_axes_are_one_sequence():
    layer, x = attention((1, 2)), tensor(B, A, T, D)
    output, scores = layer(x, x, return_attention_scores=True)
    assert scores.shape == (B, N, A, T, A, T)
    flat = np.reshape(to_numpy(x), (B, A * T, D))
    expected = to_numpy(layer(flat, flat))
    np.testing.assert_allclose(to_numpy(output).reshape(B, A * T, D), expected, **EXACT)


def test_hidden_masks_have_the_axes_of_their_tensor():
    """As an `Embedding` of three axes attaches them; the output carries the query's."""
    layer, query, value = attention(2), tensor(B, A, T, D), tensor(B, A, S, D, seed=1)
    random = np.random.default_rng(0)
    rows = random.integers(0, 2, (B, A, T)).astype(bool)
    keys = random.integers(0, 2, (B, A, S)).astype(bool)
    with_mask(query, rows)
    with_mask(value, keys)
    output, scores = layer(query, value, return_attention_scores=True)
    np.testing.assert_array_equal(mask_of(output), rows)
    allowed = rows[:, :, None, :, None] & keys[:, :, None, None, :]
    np.testing.assert_array_equal(
        to_numpy(scores) > 0, np.broadcast_to(allowed, scores.shape)
    )


@pytest.mark.parametrize("shape", [(T, S), (B, T, S), (B, N, T, S)], ids=str)
def test_attention_mask_and_bias_hold_at_every_free_position(shape):
    layer, query, value = attention(2), tensor(B, A, T, D), tensor(B, A, S, D, seed=1)
    mask = np.random.default_rng(0).integers(0, 2, shape).astype(bool)
    options = {"return_attention_scores": True}
    _, scores = layer(query, value, attention_mask=mask, **options)
    lead = {2: (1, 1, 1), 3: (B, 1, 1), 4: (B, 1, N)}[len(shape)]
    allowed = np.broadcast_to(mask.reshape(*lead, T, S), scores.shape)
    np.testing.assert_array_equal(to_numpy(scores) > 0, allowed)
    if len(shape) != 3:
        bias = np.where(mask, 0.0, -1e9).astype("float32")
        _, biased = layer(query, value, attention_bias=bias, **options)
        some = allowed.any(-1)
        np.testing.assert_allclose(
            to_numpy(biased)[some], to_numpy(scores)[some], **EXACT
        )


def test_output_of_several_axes():
    layer = layers.MultiHeadAttention(N, 4, attention_axes=2, output_shape=(13, 17))
    x = tensor(B, A, T, D)
    assert layer(x, x).shape == (B, A, T, 13, 17)
    symbolic = keras.Input((A, None, D))
    assert layer(symbolic, symbolic).shape == (None, A, None, 13, 17)
