"""The Performer: how near it comes to softmax attention, and its state."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import compiled, tensor, to_numpy

B, S, N, H, D = 2, 7, 3, 8, 17

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def built(num_features=64, **options):
    layer = layers.PerformerAttention(N, H, num_features, **options)
    layer.build((B, S, D), (B, S, D))
    return layer


def normal(length, size, deviation, seed):
    """`(1, length, 1, size)`, a sequence with one head."""
    numbers = np.random.default_rng(seed).normal(size=(1, length, 1, size))
    return ops.convert_to_tensor(deviation * numbers, "float32")


def weights_of(layer, query, key):
    """The attention weights that the sums stand for, `(T, S)`: values are one-hot."""
    length = key.shape[1]
    value = ops.reshape(ops.eye(length), (1, length, 1, length))
    return to_numpy(layer.attend_heads(query, key, value))[0, :, 0]


def softmax_weights(query, key):
    query, key = (to_numpy(x)[0, :, 0].astype("float64") for x in (query, key))
    exponentials = np.exp(query @ key.T / np.sqrt(query.shape[-1]))
    return exponentials / exponentials.sum(-1, keepdims=True)


def misplaced(deviation, num_features, orthogonal=True, size=16, draws=6):
    """Share of the weight that lies on wrong keys, of 64: mean over rows and draws."""
    shares = []
    for draw in range(draws):
        layer = layers.PerformerAttention(
            1, size, num_features, orthogonal=orthogonal, seed=draw
        )
        layer.build((1, 64, size), (1, 64, size))
        tensors = [normal(64, size, deviation, 2 * draw + i) for i in (0, 1)]
        error = weights_of(layer, *tensors) - softmax_weights(*tensors)
        shares.append(abs(error).sum(-1).mean() / 2)
    return np.mean(shares)


# --------------------------------------------------------------------------- the error


@pytest.mark.parametrize(
    ("deviation", "stated"),
    [(0.5, (0.08, 0.05, 0.024, 0.013)), (1.0, (0.37, 0.30, 0.22, 0.17))],
)
def test_the_error_is_what_the_docstring_states(deviation, stated):
    found = [misplaced(deviation, count) for count in (64, 256, 1024, 4096)]
    np.testing.assert_allclose(found, stated, rtol=0.2)


def test_orthogonal_directions_err_less():
    few = {"deviation": 0.5, "num_features": 16, "draws": 20}
    assert misplaced(**few) < 0.95 * misplaced(**few, orthogonal=False)


def test_weights_of_softmax_attention_carry_over():
    exact = layers.MultiHeadAttention(N, H)
    x = tensor(B, S, D)
    exact(x, x)
    random = np.random.default_rng(0)
    weights = [0.2 * random.normal(size=w.shape) for w in exact.get_weights()]
    exact.set_weights(weights)
    expected = to_numpy(exact(x, x, use_causal_mask=True))
    layer = built(8192, seed=0)
    layer.set_weights([*layer.get_weights()[:1], *weights])
    found = to_numpy(layer(x, x, use_causal_mask=True))
    error = np.sqrt(((found - expected) ** 2).mean() / (expected**2).mean())
    assert error < 0.1


def test_equals_the_quadratic_form_of_its_features():
    """Far from the softmax, but exact in what it computes."""
    layer = layers.PerformerAttention(1, H, 16, seed=0)
    layer.build((1, S, D), (1, S, D))
    query, key = normal(S, H, 1.0, 0), normal(S, H, 1.0, 1)
    directions = to_numpy(layer.directions).astype("float64")
    features = []
    for x in (query, key):
        x = to_numpy(x)[0, :, 0].astype("float64") / H**0.25
        features.append(np.exp(x @ directions - (x**2).sum(-1, keepdims=True) / 2))
    pairs = features[0] @ features[1].T
    expected = pairs / pairs.sum(-1, keepdims=True)
    np.testing.assert_allclose(weights_of(layer, query, key), expected, **CLOSE)


def test_large_queries_and_keys_stay_finite():
    """`exp` alone would overflow: a maximum is subtracted first."""
    layer = layers.PerformerAttention(1, H, 64, seed=0)
    layer.build((1, S, D), (1, S, D))
    query, key = normal(S, H, 30.0, 0), normal(S, H, 30.0, 1)
    found = weights_of(layer, query, key)
    assert np.isfinite(found).all()
    assert (found >= 0).all()


# ---------------------------------------------------------------------- the directions


def test_directions_are_saved_and_not_trained():
    layer = built()
    (directions,) = layer.non_trainable_weights
    assert tuple(directions.shape) == (H, 64)
    assert layer.get_weights()[0].shape == (H, 64)


def test_seed_fixes_the_directions_on_every_backend():
    first, same = (built(seed=7).get_weights()[0] for _ in range(2))
    np.testing.assert_array_equal(first, same)
    assert not np.allclose(first, built(seed=8).get_weights()[0])
    np.testing.assert_allclose(first[:2, 0], [-0.884383, -0.479020], rtol=1e-5)


def test_without_a_seed_the_global_one_holds():
    drawn = []
    for _ in range(2):
        keras.utils.set_random_seed(3)
        drawn.append([built().get_weights()[0] for _ in range(2)])
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.allclose(*drawn[0])


def test_number_of_features_is_positive():
    with pytest.raises(ValueError, match="`num_features` must be a positive integer"):
        layers.PerformerAttention(N, H, num_features=0)


# ------------------------------------------------------------------------ step by step


def test_steps_equal_the_causal_layer():
    """Also where later keys are larger: the sums so far are scaled down to them."""
    layer = built(seed=0)
    x = to_numpy(tensor(B, S, D)) * np.linspace(0.2, 2.0, S)[:, None].astype("float32")
    expected = to_numpy(layer(x, x, use_causal_mask=True))
    step = compiled(layer.step)
    state = layer.initial_state(B)
    shapes = [tuple(part.shape) for part in state]
    for index in range(S):
        now = ops.convert_to_tensor(x[:, index : index + 1])
        output, state = step(now, now, state)
        np.testing.assert_allclose(to_numpy(output)[:, 0], expected[:, index], **CLOSE)
        assert [tuple(part.shape) for part in state] == shapes


def test_hidden_positions_leave_no_trace_in_the_state():
    layer, x = built(seed=0), tensor(B, 3, D)
    hidden = to_numpy(x).copy()
    hidden[:, 2] = np.inf
    real = np.array([[1, 1, 0]] * B)
    initial = layer.initial_state(B)
    _, found = layer.step(hidden, hidden, initial, value_mask=real)
    _, expected = layer.step(x[:, :2], x[:, :2], initial)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(to_numpy(one), to_numpy(other), **CLOSE)
