"""Attention step by step, with a cache, against attention over the whole sequence."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import compiled, tensor, to_numpy

B, T, S, N, H, D = 2, 5, 7, 3, 11, 17
CLOSE = {"rtol": 1e-5, "atol": 2e-6}


def cached_layer(**options):
    layer = layers.MultiHeadAttention(**{"num_heads": N, "key_dim": H, **options})
    layer.build((B, S, D), (B, S, D))
    return layer


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_key_value_heads": 1},
        {"sliding_window": 3},
        {"value_dim": 7},
        {"score": "additive"},
        {"qk_norm": True, "logit_soft_cap": 2.0},
        {"rotary": True, "key_dim": 12},
        {"rotary": {"interleaved": True}, "key_dim": 12, "num_key_value_heads": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("room", [0, 4])
def test_cached_steps_equal_the_whole_sequence(options, room):
    """Also where the cache has room for more than is ever written."""
    layer, x = cached_layer(**options), tensor(B, S, D)
    expected, expected_scores = layer(
        x, x, use_causal_mask=True, return_attention_scores=True
    )
    cache = layer.empty_cache(B, S + room)
    for step in range(S):
        now = x[:, step : step + 1]
        output, scores, cache = layer(
            now,
            now,
            use_causal_mask=True,
            cache=cache,
            cache_update_index=step,
            return_attention_scores=True,
        )
        np.testing.assert_allclose(
            to_numpy(output)[:, 0], to_numpy(expected)[:, step], rtol=1e-5, atol=1e-5
        )
        scores = to_numpy(scores)[:, :, 0]
        exact = to_numpy(expected_scores)[:, :, step]
        np.testing.assert_allclose(scores[..., :S], exact, rtol=1e-5, atol=1e-5)
        assert (scores[..., step + 1 :] == 0).all()


def test_cached_prompt_then_steps():
    """Several positions at once, then one by one, the index a tensor."""
    layer, x = cached_layer(), tensor(B, S, D)
    expected = to_numpy(layer(x, x, use_causal_mask=True))
    prompt = x[:, :4]
    first, cache = layer(
        prompt,
        prompt,
        use_causal_mask=True,
        cache=layer.empty_cache(B, S),
        cache_update_index=0,
    )
    np.testing.assert_allclose(to_numpy(first), expected[:, :4], rtol=1e-5, atol=1e-5)

    def step(now, cache, index):
        return layer(
            now, now, use_causal_mask=True, cache=cache, cache_update_index=index
        )

    step = compiled(step)
    for index in range(4, S):
        output, cache = step(
            x[:, index : index + 1], cache, ops.convert_to_tensor(index, "int32")
        )
        np.testing.assert_allclose(
            to_numpy(output)[:, 0], expected[:, index], rtol=1e-5, atol=1e-5
        )


def test_static_cache_for_cross_attention():
    """Keys and values projected once; the value itself is not looked at again."""
    layer = cached_layer()
    query, memory = tensor(B, T, D), tensor(B, S, D, seed=1)
    keys = np.arange(S)[None] < np.array([[4], [S]])
    expected = layer(query, memory, value_mask=keys)
    cache = layer.cache_of(memory)
    output, same = layer(query, memory * np.nan, cache=cache, value_mask=keys)
    np.testing.assert_allclose(to_numpy(output), to_numpy(expected), **CLOSE)
    for one, other in zip(same, cache, strict=True):
        np.testing.assert_array_equal(to_numpy(one), to_numpy(other))


def test_a_static_cache_does_not_tell_where_the_query_stands():
    layer, x = cached_layer(rotary=True, key_dim=12), tensor(B, 1, D)
    with pytest.raises(ValueError, match="`rotary` needs a `cache_update_index`"):
        layer(x, x, cache=layer.empty_cache(B, S))


def test_cache_shapes_of_a_symbolic_call():
    layer = layers.MultiHeadAttention(N, H, value_dim=7)
    x, cache = keras.Input((1, D)), (keras.Input((N, S, H)), keras.Input((N, S, 7)))
    output, scores, new = layer(
        x, x, cache=cache, cache_update_index=3, return_attention_scores=True
    )
    assert output.shape == (None, 1, D)
    assert scores.shape == (None, N, 1, S)
    assert [x.shape for x in new] == [x.shape for x in cache]


def test_index_without_a_cache_is_refused():
    x = tensor(B, 1, D)
    with pytest.raises(ValueError, match="`cache_update_index` needs a `cache`"):
        layers.MultiHeadAttention(N, H)(x, x, cache_update_index=0)
