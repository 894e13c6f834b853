import numpy as np
import pytest

from keras_attention import layers
from tests.backend import tensor, to_numpy

B, T, S, D, N, H, SIZE = 2, 9, 11, 5, 2, 3, 4
BLOCKS = 3


def layer(**options):
    return layers.BlockSummaryAttention(N, H, SIZE, **options)


def inputs():
    return tensor(B, T, D), tensor(B, S, D, seed=1)


def test_equal_keys_of_a_block_give_full_attention():
    """A summary weighs as much as all the keys it stands for."""
    query, value = inputs()
    value = np.repeat(to_numpy(value)[:, ::SIZE], SIZE, axis=1)[:, :S]
    attention, full = layer(), layers.MultiHeadAttention(N, H)
    found = attention(query, value)
    full(query, value)
    full.set_weights(attention.get_weights())
    np.testing.assert_allclose(to_numpy(found), to_numpy(full(query, value)), atol=1e-6)


def test_one_block_is_full_attention():
    query, value = inputs()
    attention, full = layers.BlockSummaryAttention(N, H, S + 1), None
    found = attention(query, value, use_causal_mask=True)
    full = layers.MultiHeadAttention(N, H)
    full(query, value)
    full.set_weights(attention.get_weights())
    expected = full(query, value, use_causal_mask=True)
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), atol=1e-6)


def visible(is_causal):
    """`(T, S)` of single keys and `(T, BLOCKS)` of summaries, from the definition."""
    positions = np.arange(T) + S - T
    own = positions[:, None] // SIZE
    single = own == np.arange(S) // SIZE
    summaries = own != np.arange(BLOCKS)
    if is_causal:
        single &= np.arange(S) <= positions[:, None]
        summaries = np.arange(BLOCKS) < own
    return np.concatenate([single, summaries], axis=1)


@pytest.mark.parametrize("flash", [None, True])
@pytest.mark.parametrize("is_causal", [False, True])
def test_scores_are_where_the_definition_has_them(is_causal, flash):
    attention = layer(flash_attention=flash)
    output, scores = attention(
        *inputs(), use_causal_mask=is_causal, return_attention_scores=True
    )
    scores = to_numpy(scores)
    seen = np.broadcast_to(visible(is_causal), scores.shape)
    assert (scores[seen] > 0).all()
    assert (scores[~seen] == 0).all()
    plain = attention(*inputs(), use_causal_mask=is_causal)
    np.testing.assert_allclose(to_numpy(plain), to_numpy(output), atol=1e-6)


def test_by_hand_in_float64():
    attention = layer(use_bias=False)
    query, value = inputs()
    keys = np.ones((B, S), bool)
    keys[0, 5:8], keys[1, 4:8] = False, False  # part of a block, and a whole one
    found = to_numpy(attention(query, value, value_mask=keys))
    weights = [w.astype("float64") for w in attention.get_weights()]
    q, k, v = (
        np.einsum("bld,dnh->bnlh", to_numpy(x).astype("float64"), w)
        for x, w in zip((query, value, value), weights[:3], strict=True)
    )
    index = np.arange(S) // SIZE
    expected = np.zeros((B, N, T, H))
    for b in range(B):
        count = np.array([(keys[b] & (index == m)).sum() for m in range(BLOCKS)])
        member = (index == np.arange(BLOCKS)[:, None]) & keys[b]
        mean = member / np.maximum(count, 1)[:, None]
        all_keys, all_values = (np.concatenate([x[b], mean @ x[b]], 1) for x in (k, v))
        bias = np.concatenate([np.zeros(S), np.log(np.maximum(count, 1))])
        logits = q[b] @ all_keys.swapaxes(-1, -2) / np.sqrt(H) + bias
        real = np.concatenate([keys[b], count > 0])
        allowed = visible(False) & real
        exp = np.where(allowed, np.exp(logits), 0)
        expected[b] = exp / exp.sum(-1, keepdims=True) @ all_values
    expected = np.einsum("bnth,nhd->btd", expected, weights[3])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_padding_at_the_end_changes_nothing():
    """Three padded keys after eight: the last block goes, queries stay in theirs."""
    value = to_numpy(tensor(B, S, D, seed=1)).copy()
    value[:, 8:] = np.nan
    mask = np.broadcast_to(np.arange(S) < 8, (B, S))
    attention = layer()
    padded = attention(value, value, query_mask=mask, value_mask=mask)
    alone = attention(value[:, :8], value[:, :8])
    np.testing.assert_allclose(to_numpy(padded)[:, :8], to_numpy(alone), atol=1e-6)


@pytest.mark.parametrize("name", ["attention_mask", "attention_bias", "cache"])
def test_what_speaks_of_single_positions_is_refused(name):
    with pytest.raises(ValueError, match=f"a summary has no position.*{name}="):
        layer()(*inputs(), **{name: np.ones((T, S), bool)})


@pytest.mark.parametrize("block_size", [0, -1, 2.5])
def test_block_sizes_are_positive_integers(block_size):
    with pytest.raises(ValueError, match="`block_size` must be a positive integer"):
        layers.BlockSummaryAttention(N, H, block_size)


def test_feature_maps_are_refused():
    x = tensor(B, 2, S, D)
    with pytest.raises(ValueError, match=r"attends sequences \(B, T, D\)"):
        layer(attention_axes=2)(x, x)
