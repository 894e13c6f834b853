"""Temporal attention: NumPy by hand, and the last real step under any padding."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from keras_attention.layers.temporal_attention import last_step
from tests.backend import tensor, to_numpy

B, S, D = 2, 5, 7
RIGHT = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool)
LEFT = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 1, 1]], bool)
HOLES = np.array([[1, 0, 1, 1, 0], [0, 1, 0, 1, 0]], bool)


def expected_of(layer, x, mask):
    """Context and scores in float64, a row at a time."""
    kernel = to_numpy(layer.kernel).astype("float64")
    context, scores = np.zeros((B, D)), np.zeros((B, S))
    for row, (steps, real) in enumerate(zip(to_numpy(x), mask, strict=True)):
        kept = steps[real].astype("float64")
        logits = kept[-1] @ kernel @ kept.T
        weights = np.exp(logits) / np.exp(logits).sum()
        scores[row, real], context[row] = weights, weights @ kept
    return context, scores


@pytest.mark.parametrize("mask", [None, RIGHT, LEFT, HOLES])
def test_equals_its_formula(mask):
    x, layer = tensor(B, S, D), layers.TemporalAttention()
    output, scores = layer(x, mask=mask, return_attention_scores=True)
    real = np.ones((B, S), bool) if mask is None else mask
    context, expected = expected_of(layer, x, real)
    np.testing.assert_allclose(to_numpy(scores), expected, atol=1e-6)
    np.testing.assert_allclose(to_numpy(output), context, atol=1e-6)


@pytest.mark.parametrize("mask", [RIGHT, LEFT, HOLES])
def test_last_step_is_the_last_real_one(mask):
    x = tensor(B, S, D)
    last = [np.flatnonzero(row)[-1] for row in mask]
    found = to_numpy(last_step(x, mask))
    np.testing.assert_array_equal(found, to_numpy(x)[np.arange(B), last])


def test_c22_empty_sequence_is_zero():
    x, mask = tensor(B, S, D), np.zeros((B, S), bool)
    mask[1] = True
    layer = layers.TemporalAttention()
    output, scores = layer(x, mask=mask, return_attention_scores=True)
    assert (to_numpy(last_step(x, mask))[0] == 0).all()
    assert (to_numpy(output)[0] == 0).all()
    assert (to_numpy(scores)[0] == 0).all()
    np.testing.assert_allclose(
        to_numpy(output)[1], to_numpy(layer(x[1:]))[0], atol=1e-6
    )


def test_the_last_step_is_what_the_others_are_asked():
    """Another last step also moves the scores of the others among themselves."""
    x, layer = to_numpy(tensor(B, S, D)), layers.TemporalAttention()
    changed = x.copy()
    changed[:, -1] = 3 * changed[:, -1, ::-1]
    _, before = layer(x, return_attention_scores=True)
    _, after = layer(changed, return_attention_scores=True)
    others = [to_numpy(scores)[:, :-1] for scores in (before, after)]
    first, second = (x / x.sum(-1, keepdims=True) for x in others)
    assert np.abs(second - first).max(-1).min() > 1e-3


@pytest.mark.slow
def test_learns_to_look_back():
    """The last step says which of two earlier ones holds the answer."""
    random = np.random.default_rng(0)
    x = random.normal(size=(512, 6, 4)).astype("float32")
    x[..., 2:] = 0
    which = random.integers(0, 2, 512)
    x[:, 1, 2], x[:, 3, 3] = 2, 2  # marks of the two
    x[:, -1] = np.eye(4, dtype="float32")[2 + which] * 2
    answer = x[np.arange(512), np.where(which == 0, 1, 3), :2]
    inputs = keras.Input((6, 4))
    pooled, scores = layers.TemporalAttention()(inputs, return_attention_scores=True)
    model = keras.Model(inputs, keras.layers.Dense(2)(pooled))
    model.compile(keras.optimizers.Adam(0.03), "mse")
    model.fit(x, answer, epochs=30, batch_size=32, verbose=0)
    weights = keras.Model(inputs, scores).predict(x, verbose=0)
    # The rest goes to the last step itself, which holds none of the answer.
    assert (weights[:, :-1].argmax(-1) == np.where(which == 0, 1, 3)).mean() > 0.95


def test_float_mask_is_refused():
    layer = layers.TemporalAttention()
    with pytest.raises(ValueError, match="`mask` must be bool or int"):
        layer(tensor(B, S, D), mask=np.ones((B, S), "float32"))
