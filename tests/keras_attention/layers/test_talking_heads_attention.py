"""Talking heads: between the projections of multi-head attention."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import compiled, tensor, to_numpy

B, T, S, N, H, D = 2, 5, 7, 3, 11, 17


def twins(**options):
    """Multi-head attention, and talking heads of the same projections."""
    query, value = tensor(B, T, D), tensor(B, S, D, seed=1)
    plain = layers.MultiHeadAttention(N, H, **options)
    talking = layers.TalkingHeadsAttention(N, H, **options)
    plain(query, value)
    talking(query, value)
    for name in ("query_dense", "key_dense", "value_dense", "output_dense"):
        getattr(talking, name).set_weights(getattr(plain, name).get_weights())
    for mine, other in zip(talking.score_variables, plain.score_variables, strict=True):
        mine.assign(other)
    return plain, talking, (query, value)


@pytest.mark.parametrize(
    "options",
    [{}, {"score": "additive"}, {"num_key_value_heads": 1}, {"logit_soft_cap": 2.0}],
    ids=str,
)
def test_starts_as_multi_head_attention(options):
    plain, talking, tensors = twins(**options)
    call = {"use_causal_mask": True, "return_attention_scores": True}
    results = zip(plain(*tensors, **call), talking(*tensors, **call), strict=True)
    for expected, found in results:
        np.testing.assert_allclose(
            to_numpy(found), to_numpy(expected), rtol=1e-5, atol=1e-6
        )


def test_heads_are_mixed_before_and_after_the_softmax():
    plain, talking, (query, value) = twins()
    random = np.random.default_rng(0)
    before, after = random.normal(size=(2, N, N))
    talking.logits_mix.assign(before)
    talking.scores_mix.assign(after)
    output, scores = talking(query, value, return_attention_scores=True)
    q, k, v = (
        np.swapaxes(to_numpy(x).astype("float64"), 1, 2)
        for x in (
            plain.project_query(query),
            plain.project_key(value),
            plain.project_value(value),
        )
    )
    logits = np.einsum("nm,bmts->bnts", before, q @ np.swapaxes(k, -1, -2) / H**0.5)
    expected = np.exp(logits - logits.max(-1, keepdims=True))
    expected /= expected.sum(-1, keepdims=True)
    np.testing.assert_allclose(to_numpy(scores), expected, rtol=1e-4, atol=1e-6)
    heads = np.einsum("nm,bmts->bnts", after, expected) @ v
    heads = ops.convert_to_tensor(np.swapaxes(heads, 1, 2).astype("float32"))
    expected = to_numpy(plain.combine(heads, query))
    np.testing.assert_allclose(to_numpy(output), expected, rtol=1e-4, atol=1e-5)


def test_cached_steps_equal_the_whole_sequence():
    layer, x = layers.TalkingHeadsAttention(N, 12, rotary=True), tensor(B, S, D)
    layer(x, x)
    random = np.random.default_rng(0)
    layer.set_weights([0.3 * random.normal(size=w.shape) for w in layer.get_weights()])
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


def test_dropout_drops_in_training_alone():
    layer, x = layers.TalkingHeadsAttention(N, H, dropout=0.5), tensor(B, S, D)
    plain = to_numpy(layer(x, x))
    np.testing.assert_array_equal(to_numpy(layer(x, x, training=False)), plain)
    assert not np.allclose(to_numpy(layer(x, x, training=True)), plain, atol=1e-3)


def test_holding_no_scores_is_refused():
    with pytest.raises(ValueError, match=r"must be held.*flash_attention=True"):
        layers.TalkingHeadsAttention(N, H, flash_attention=True)


def test_parameters():
    _, talking, _ = twins()
    plain = layers.MultiHeadAttention(N, H)
    plain.build((B, T, D), (B, S, D))
    assert talking.count_params() == plain.count_params() + 2 * N**2
