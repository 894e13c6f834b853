"""The linear layer: its formula by hand, its state, and that it learns."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from tests.backend import compiled, tensor, to_numpy

B, T, S, N, H, V, D, DV, DK = 2, 5, 7, 3, 11, 13, 17, 19, 23

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def inputs():
    """Query, value and key."""
    return (
        tensor(B, T, D),
        tensor(B, S, DV, seed=1),
        tensor(B, S, DK, seed=2),
    )


def random_weights(layer):
    """Biases are 0 at first: let them say something too."""
    random = np.random.default_rng(0)
    layer.set_weights([0.3 * random.normal(size=w.shape) for w in layer.get_weights()])


def by_hand(layer, query, value, key, allowed):
    """The layer in NumPy float64, all pairs spelled out."""
    weights = [x.astype("float64") for x in layer.get_weights()]
    tensors = (to_numpy(x).astype("float64") for x in (query, key, value))
    query, key, value = (
        np.einsum("bld,dnh->bnlh", x, kernel) + bias[:, None]
        for x, kernel, bias in zip(tensors, weights[::2], weights[1::2], strict=False)
    )
    query, key = (np.where(x > 0, x, np.expm1(x)) + 1 for x in (query, key))
    pairs = np.einsum("bnth,bnsh->bnts", query, key) * allowed
    total = pairs.sum(-1, keepdims=True)
    pairs = np.divide(pairs, total, out=np.zeros_like(pairs), where=total > 0)
    output = np.einsum("bnts,bnsv->btnv", pairs, value)
    return np.einsum("btnv,nvd->btd", output, weights[6]) + weights[7]


def test_equals_its_formula():
    layer, tensors = layers.LinearAttention(N, H, value_dim=V), inputs()
    layer(*tensors)
    random_weights(layer)
    keys = np.arange(S)[None] < np.array([[4], [S]])
    triangle = np.tril(np.ones((T, S)), S - T)
    for options, allowed in [
        ({}, np.ones((1, 1, T, S))),
        ({"value_mask": keys}, keys[:, None, None]),
        ({"use_causal_mask": True}, triangle),
        ({"value_mask": keys, "use_causal_mask": True}, keys[:, None, None] * triangle),
    ]:
        found = to_numpy(layer(*tensors, **options))
        np.testing.assert_allclose(found, by_hand(layer, *tensors, allowed), **CLOSE)


def test_more_queries_than_keys_see_nothing_at_first():
    """Aligned to the end: query `i` of 7 sees keys up to `i - 2` of 5."""
    layer = layers.LinearAttention(N, H)
    query, value = tensor(B, 7, D), tensor(B, 5, D)
    layer(query, value)
    random_weights(layer)
    allowed = np.tril(np.ones((7, 5)), -2)
    found = to_numpy(layer(query, value, use_causal_mask=True))
    expected = by_hand(layer, query, value, value, allowed)
    np.testing.assert_allclose(found, expected, **CLOSE)
    bias = np.broadcast_to(layer.get_weights()[-1], (B, 2, D))
    np.testing.assert_allclose(found[:, :2], bias, **CLOSE)


def test_parameters_are_those_of_multi_head_attention():
    """Also in number and order, so that either can start from the other's."""
    ours, theirs = layers.LinearAttention(N, H), layers.MultiHeadAttention(N, H)
    for layer in (ours, theirs):
        layer(tensor(B, T, D), tensor(B, S, DV))
    assert ours.count_params() == theirs.count_params()
    assert [w.shape for w in ours.weights] == [w.shape for w in theirs.weights]


# ------------------------------------------------------------------------ step by step


def test_steps_equal_the_causal_layer():
    layer, x, key = layers.LinearAttention(N, H), tensor(B, S, D), tensor(B, S, DK)
    expected = to_numpy(layer(x, x, key, use_causal_mask=True))
    step = compiled(layer.step)
    state = layer.initial_state(B)
    shapes = [tuple(part.shape) for part in state]
    for index in range(S):
        now, now_key = (y[:, index : index + 1] for y in (x, key))
        output, state = step(now, now, state, now_key)
        np.testing.assert_allclose(to_numpy(output)[:, 0], expected[:, index], **CLOSE)
        assert [tuple(part.shape) for part in state] == shapes


def test_a_padded_prompt_then_a_step():
    """Rows of a batch may have prompts of different lengths."""
    layer, x = layers.LinearAttention(N, H), tensor(B, 4, D)
    layer(x, x)
    real = np.array([[1, 1, 1], [1, 0, 0]])
    prompt = to_numpy(x)[:, :3].copy()
    prompt[1, 1:] = np.nan
    _, state = layer.step(prompt, prompt, layer.initial_state(B), value_mask=real)
    found, _ = layer.step(x[:, 3:], x[:, 3:], state)
    # The last query of the whole sequence, the hidden positions taken out.
    seen = np.concatenate([real, [[1], [1]]], axis=1)
    expected = layer(x[:, 3:], x, value_mask=seen)
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), **CLOSE)


def test_the_state_of_half_precision_is_float32():
    layer, x = layers.LinearAttention(N, H, dtype="bfloat16"), tensor(B, 1, D)
    layer(x, x)
    output, (sums,) = layer.step(x, x, layer.initial_state(B))
    assert keras.backend.standardize_dtype(output.dtype) == "bfloat16"
    assert keras.backend.standardize_dtype(sums.dtype) == "float32"


def test_a_step_needs_a_built_layer():
    layer, x = layers.LinearAttention(N, H), tensor(B, 1, D)
    with pytest.raises(ValueError, match="must be built"):
        layer.step(x, x, layer.initial_state(B))


# --------------------------------------------------------------------------- it learns


@pytest.mark.slow
def test_learns_to_recall():
    """Of 6 keys one matches the query: the answer is the value that came with it."""
    random = np.random.default_rng(0)
    key = np.stack([random.permutation(np.eye(6)) for _ in range(256)])
    value = random.normal(size=(256, 6, 2))
    chosen = random.integers(0, 6, 256)
    query = key[np.arange(256), chosen][:, None]
    answer = value[np.arange(256), chosen][:, None]
    tensors = [x.astype("float32") for x in (query, value, key)]
    symbolic = [keras.Input(x.shape[1:]) for x in tensors]
    output = layers.LinearAttention(2, 8, output_shape=2)(*symbolic)
    model = keras.Model(symbolic, output)
    model.compile(keras.optimizers.Adam(0.05), "mse")
    losses = [model.train_on_batch(tensors, answer) for _ in range(60)]
    assert losses[-1] < 0.1 * losses[0]
