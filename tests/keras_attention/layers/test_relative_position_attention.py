"""Shaw's relative keys: a second product inside multi-head attention."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import compiled, tensor, to_numpy

B, T, S, N, H, D, NEAR = 2, 5, 7, 3, 11, 17, 2


def made(**options):
    """A layer with large random relative keys."""
    layer = layers.RelativePositionAttention(N, H, max_distance=NEAR, **options)
    layer.build((B, T, D), (B, S, D))
    table = np.random.default_rng(0).normal(size=(2 * NEAR + 1, H))
    layer.relative_keys.assign(table)
    return layer, table


@pytest.mark.parametrize("flash_attention", [False, True])
def test_keys_answer_by_their_distance(flash_attention):
    layer, table = made(flash_attention=flash_attention)
    query, value = tensor(B, T, D), tensor(B, S, D, seed=1)
    q, k, v = (
        to_numpy(x).astype("float64")
        for x in (
            layer.project_query(query),
            layer.project_key(value),
            layer.project_value(value),
        )
    )
    heads = np.empty((B, T, N, H))
    scores = np.empty((B, N, T, S))
    for b, i, n in np.ndindex(B, T, N):
        distances = np.clip(np.arange(S) - (i + S - T), -NEAR, NEAR)
        logits = (k[b, :, n] + table[distances + NEAR]) @ q[b, i, n] / np.sqrt(H)
        weights = np.exp(logits - logits.max())
        scores[b, n, i] = weights / weights.sum()
        heads[b, i, n] = scores[b, n, i] @ v[b, :, n]
    heads = ops.convert_to_tensor(heads.astype("float32"))
    expected = to_numpy(layer.combine(heads, query))
    found = to_numpy(layer(query, value))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    _, found = layer(query, value, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(found), scores, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("keys", [S, 1], ids=["of pairs", "of queries"])
def test_a_bias_of_the_caller_is_added(keys):
    layer, _ = made()
    x, bias = tensor(B, S, D), tensor(S, keys)
    _, plain = layer(x, x, return_attention_scores=True)
    _, found = layer(x, x, attention_bias=bias, return_attention_scores=True)
    expected = to_numpy(plain) * np.exp(to_numpy(bias))
    expected /= expected.sum(-1, keepdims=True)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-4, atol=1e-6)


def test_cached_steps_equal_the_whole_sequence():
    layer, _ = made()
    x = tensor(B, S, D)
    expected = to_numpy(layer(x, x, use_causal_mask=True))

    def step(now, cache, index):
        return layer(
            now, now, use_causal_mask=True, cache=cache, cache_update_index=index
        )

    step, cache = compiled(step), layer.empty_cache(B, S + 2)
    for index in range(S):
        where = ops.convert_to_tensor(index, "int32")
        output, cache = step(x[:, index : index + 1], cache, where)
        np.testing.assert_allclose(
            to_numpy(output)[:, 0], expected[:, index], rtol=1e-5, atol=1e-5
        )


def test_distance_is_positive():
    with pytest.raises(ValueError, match="`max_distance` must be a positive integer"):
        layers.RelativePositionAttention(N, H, max_distance=0)
