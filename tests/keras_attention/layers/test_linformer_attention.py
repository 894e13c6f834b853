"""Linformer: its formula by hand, padding, shorter inputs, and why it is not causal."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from tests.backend import BACKEND, tensor, to_numpy

B, T, S, N, H, V, D, DV, DK, K = 2, 5, 7, 3, 11, 13, 17, 19, 23, 4
LONGEST = 9

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def linformer(**options):
    return layers.LinformerAttention(N, H, LONGEST, K, **options)


def random_weights(layer):
    """Biases are 0 at first: let them say something too."""
    random = np.random.default_rng(0)
    layer.set_weights([0.3 * random.normal(size=w.shape) for w in layer.get_weights()])


# -------------------------------------------------------------------------- named case


def test_c26_linformer_padding_shorter_inputs_causal():
    """C26: 5 tokens alone, or padded to 8 with 1e3; then causal."""
    layer = layers.LinformerAttention(2, 4, max_sequence_length=8, projected_length=3)
    x = tensor(1, 5, D)
    layer(x, x)
    random_weights(layer)
    alone = to_numpy(layer(x, x))
    padded = np.pad(to_numpy(x), ((0, 0), (0, 3), (0, 0)), constant_values=1e3)
    mask = np.arange(8)[None] < 5
    found = to_numpy(layer(padded, padded, query_mask=mask, value_mask=mask))
    np.testing.assert_allclose(found[:, :5], alone, atol=1e-5)
    found = to_numpy(layer(padded, padded, value_mask=mask))
    np.testing.assert_allclose(found[:, :5], alone, atol=1e-5)
    with pytest.raises(ValueError, match="would see the future"):
        layer(x, x, use_causal_mask=True)
    with pytest.raises(ValueError, match="would see the future"):
        layer(keras.Input((8, D)), keras.Input((8, D)), use_causal_mask=True)


# ------------------------------------------------------------------------------ parity


def by_hand(layer, query, value, key, mask):
    """The layer in NumPy float64."""
    weights = [x.astype("float64") for x in layer.get_weights()]
    shared = 1 if layer.share_projection else 2
    mixing, weights = [x[:S] for x in weights[:shared]], weights[shared:]
    tensors = (to_numpy(x).astype("float64") for x in (query, key, value))
    query, key, value = (
        np.einsum("bld,dnh->bnlh", x, kernel) + bias[:, None]
        for x, kernel, bias in zip(tensors, weights[::2], weights[1::2], strict=False)
    )
    key, value = (x * mask[:, None, :, None] for x in (key, value))
    key = np.einsum("bnsh,sk->bnkh", key, mixing[0])
    value = np.einsum("bnsh,sk->bnkh", value, mixing[-1])
    exponentials = np.exp(np.einsum("bnth,bnkh->bntk", query, key) / np.sqrt(H))
    scores = exponentials / exponentials.sum(-1, keepdims=True)
    output = np.einsum("bntk,bnkv->btnv", scores, value)
    return np.einsum("btnv,nvd->btd", output, weights[6]) + weights[7]


@pytest.mark.parametrize("shared", [False, True])
def test_equals_its_formula(shared):
    layer = linformer(value_dim=V, share_projection=shared)
    tensors = [tensor(B, T, D), tensor(B, S, DV, seed=1), tensor(B, S, DK, seed=2)]
    layer(*tensors)
    random_weights(layer)
    mask = np.arange(S)[None] < np.array([[4], [S]])
    for given in (np.ones((B, S), bool), mask):
        found = to_numpy(layer(*tensors, value_mask=given))
        np.testing.assert_allclose(found, by_hand(layer, *tensors, given), **CLOSE)


def test_parameters_are_those_of_multi_head_attention_and_the_projections():
    x = tensor(B, T, D)
    exact = layers.MultiHeadAttention(N, H)
    exact(x, x)
    for shared, matrices in ((False, 2), (True, 1)):
        layer = linformer(share_projection=shared)
        layer(x, x)
        assert layer.count_params() == exact.count_params() + matrices * LONGEST * K


def test_the_two_projections_start_apart():
    """One initializer used twice would give the same numbers twice."""
    layer = linformer(kernel_initializer=keras.initializers.HeNormal())
    x = tensor(B, T, D)
    layer(x, x)
    assert not np.allclose(*layer.get_weights()[:2])


def test_options_of_the_kernels_hold_for_the_projections():
    layer = linformer(kernel_regularizer="l2")
    x = tensor(B, T, D)
    layer(x, x)
    assert len(layer.losses) == 6  # four projections to heads and back, and two


# ----------------------------------------------------------------------------- refusals


def test_longer_sequences_are_refused():
    x, longer = tensor(B, T, D), tensor(B, LONGEST + 1, D)
    with pytest.raises(ValueError, match=r"at most `max_sequence_length`.*length=10"):
        linformer()(x, longer)


@pytest.mark.skipif(BACKEND != "tensorflow", reason="lengths of graphs")
def test_lengths_unknown_before_run_time():
    import tensorflow as tf

    layer, x = linformer(), tensor(B, T, D)
    expected = to_numpy(layer(x, x))
    attend = tf.function(layer, input_signature=[tf.TensorSpec((None, None, D))] * 2)
    np.testing.assert_allclose(to_numpy(attend(x, x)), expected, **CLOSE)
    with pytest.raises(tf.errors.InvalidArgumentError):
        attend(x, tensor(B, LONGEST + 1, D))


@pytest.mark.parametrize("name", ["max_sequence_length", "projected_length"])
def test_lengths_are_positive(name):
    sizes = {"max_sequence_length": LONGEST, "projected_length": K, name: 0}
    with pytest.raises(ValueError, match=f"`{name}` must be a positive integer"):
        layers.LinformerAttention(N, H, **sizes)
