"""What multi-head attention may do to logits, queries and keys, against NumPy."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.ops import scores
from tests.backend import of_variables, tensor, to_numpy, value_and_gradients
from tests.keras_attention.ops.test_positions import turned_by_hand

B, T, S, N, H, D = 2, 5, 7, 3, 11, 17
DV, DK = 19, 23


def inputs():
    """Query, value and key."""
    shapes = (B, T, D), (B, S, DV), (B, S, DK)
    return [tensor(*shape, seed=i) for i, shape in enumerate(shapes)]


def by_hand(query, key, value):
    """Softmax attention `(B, L, N, H)` in float64."""
    logits = np.einsum("btnh,bsnh->bnts", query, key) / np.sqrt(query.shape[-1])
    return softmax_by_hand(logits, value)


def softmax_by_hand(logits, value):
    scores = np.exp(logits - logits.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    return np.einsum("bnts,bsnv->btnv", scores, value)


def projected(layer, query, value, key):
    """What the denses give, in float64."""
    given = ((layer.query_dense, query), (layer.key_dense, key))
    given += ((layer.value_dense, value),)
    return [to_numpy(dense(x)).astype("float64") for dense, x in given]


def check_heads(layer, heads):
    """The layer's output is that of `heads` `(B, T, N, V)`, on every path."""
    expected = layer.output_dense(ops.convert_to_tensor(heads.astype("float32")))
    expected = to_numpy(expected)
    for path in (None, True, False):
        layer.flash_attention = path
        found = to_numpy(layer(*inputs()))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_qk_norm_scales_each_head_to_a_root_mean_square_of_one():
    layer = layers.MultiHeadAttention(N, H, qk_norm=True)
    layer(*inputs())
    scales = np.random.default_rng(0).uniform(0.5, 2, (2, H))
    layer.set_weights([*layer.get_weights()[:-2], *scales])
    query, key, value = projected(layer, *inputs())
    query, key = (
        x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * scale
        for x, scale in zip((query, key), scales, strict=True)
    )
    check_heads(layer, by_hand(query, key, value))


def test_qk_norm_adds_two_vectors():
    plain, normed = (layers.MultiHeadAttention(N, H, qk_norm=x) for x in (False, True))
    for layer in (plain, normed):
        layer.build((B, T, D), (B, S, DV))
    assert normed.count_params() == plain.count_params() + 2 * H


@pytest.mark.parametrize("score", ["scaled_dot", "additive", "general"])
def test_logit_soft_cap_bounds_the_logits(score):
    layer = layers.MultiHeadAttention(N, H, score=score, logit_soft_cap=0.3)
    plain = layers.MultiHeadAttention(N, H, score=score)
    for x in (layer, plain):
        x(*inputs())
    plain.set_weights(layer.get_weights())
    query, key, value = projected(layer, *inputs())
    weights = [to_numpy(x).astype("float64") for x in plain.score_weights()]
    logits = scores.get(score)(
        *(np.swapaxes(x, 1, 2).astype("float32") for x in (query, key)),
        *(w.astype("float32") for w in weights),
    )
    logits = 0.3 * np.tanh(to_numpy(logits).astype("float64") / 0.3)
    check_heads(layer, softmax_by_hand(logits, value))
    assert layer.get_config()["score"] == score


def test_soft_capped_weights_get_their_gradient_on_every_path():
    expected = None
    for path in (False, True):
        options = {"score": "additive", "logit_soft_cap": 0.3, "flash_attention": path}
        layer = layers.MultiHeadAttention(N, H, **options)
        layer(*inputs())
        random = np.random.default_rng(0)
        layer.set_weights([random.normal(size=w.shape) for w in layer.get_weights()])
        function, variables = of_variables(layer, layer)
        _, found = value_and_gradients(function, *variables, *inputs())
        expected = expected or found
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_turns_queries_and_keys_aligned_to_the_end(interleaved):
    rotary = layers.RotaryEmbedding(50.0, interleaved=interleaved)
    layer = layers.MultiHeadAttention(N, 12, rotary=rotary)
    layer(*inputs())
    query, key, value = projected(layer, *inputs())
    for b, n in np.ndindex(B, N):
        for x, at in ((query, np.arange(T) + S - T), (key, np.arange(S))):
            x[b, :, n] = turned_by_hand(x[b, :, n], at, 50.0, interleaved)
    check_heads(layer, by_hand(query, key, value))


def test_rotary_of_another_dtype_changes_no_dtype():
    rotary = layers.RotaryEmbedding(dtype="float32")
    layer = layers.MultiHeadAttention(N, 12, rotary=rotary, dtype="bfloat16")
    x = tensor(B, T, D)
    for found in (layer(x, x), layer.project_query(x)):
        assert keras.backend.standardize_dtype(found.dtype) == "bfloat16"


def test_all_three_reload_from_a_config():
    options = {"qk_norm": True, "logit_soft_cap": 5.0}
    options["rotary"] = layers.RotaryEmbedding2D(grid=(1, S))
    layer = layers.MultiHeadAttention(N, 12, **options)
    again = layers.MultiHeadAttention.from_config(layer.get_config())
    assert isinstance(again.rotary, layers.RotaryEmbedding2D)
    x = tensor(B, S, D)
    expected = to_numpy(layer(x, x))
    again(x, x)
    again.set_weights(layer.get_weights())
    np.testing.assert_array_equal(to_numpy(again(x, x)), expected)
