"""Layers of the recommenders, each alone."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.blocks import TokenAndPositionEmbedding
from keras_attention.losses import sampled_logits
from keras_attention.models._item_layers import (
    ItemDropout,
    RecencyEmbedding,
    SampledLogits,
    TiedSampledLogits,
    item_rows,
)
from tests.backend import mask_of, tensor, to_numpy, with_mask

B, P, K, D, V = 2, 3, 5, 4, 13
RANDOM = np.random.default_rng(0)
TARGETS, NEGATIVES = RANDOM.integers(1, V, (B, P)), RANDOM.integers(1, V, (B, K))
LOG_Q = RANDOM.uniform(-3, -1, (B, K)).astype("float32")
MASK = np.array([[True, True, False], [True, False, False]])


def embedding():
    layer = TokenAndPositionEmbedding(V, D, positions="none")
    layer(TARGETS)
    return layer


def test_item_dropout_makes_padding_in_training_alone():
    items = np.random.default_rng(0).integers(1, 9, (50, 20))
    layer = ItemDropout(0.3, num_items=7)
    np.testing.assert_array_equal(to_numpy(layer(items)), items)
    found = to_numpy(layer(items, training=True))
    np.testing.assert_array_equal(found[found != 0], items[found != 0])
    assert (found[items == 8] == 8).all()  # a mask token stays
    assert (found[items < 8] == 0).mean() == pytest.approx(0.3, abs=0.05)
    again = to_numpy(layer(items, training=True))
    assert (found != again).any()
    np.testing.assert_array_equal(ItemDropout(0, 7)(items, training=True), items)
    assert layer(keras.Input((None,), dtype="int32")).dtype == "int32"
    with pytest.raises(ValueError, match="`item_dropout` must be a number in"):
        ItemDropout(1.0, 7)


def test_recency_counts_the_real_items_behind():
    layer = RecencyEmbedding(3)
    x = np.zeros((2, 5, D), "float32")
    mask = np.array([[True, False, True, True, False], [True] * 5])
    found = to_numpy(layer(with_mask(ops.array(x), mask)))
    table = to_numpy(layer.embeddings)
    np.testing.assert_allclose(found[0][mask[0]], table[[2, 1, 0]])
    np.testing.assert_allclose(found[1], table[[2, 2, 2, 1, 0]])  # the last is shared
    np.testing.assert_allclose(to_numpy(layer(x)), [found[1]] * 2)


def test_rows_are_those_of_the_tied_output():
    layer, x = embedding(), tensor(B, 1, D)
    logits = to_numpy(layer(x, reverse=True))[:, 0]
    rows = to_numpy(item_rows(layer, NEGATIVES, "float32"))
    found = (rows * to_numpy(x)).sum(-1)
    expected = np.take_along_axis(logits, NEGATIVES, axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_sampled_logits_of_states_are_some_of_the_tied_ones():
    table, states = embedding(), tensor(B, P, D)
    logits = to_numpy(table(states, reverse=True))  # (B, P, V)
    own = np.take_along_axis(logits, TARGETS[..., None], axis=2)[..., 0]
    every = np.broadcast_to(NEGATIVES[:, None], (B, P, K))
    others = np.take_along_axis(logits, every, axis=2)
    expected = sampled_logits(own, others, TARGETS, every, LOG_Q[:, None])
    layer = TiedSampledLogits(table)
    found = layer(with_mask(states, MASK), TARGETS, NEGATIVES, LOG_Q)
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), atol=1e-5)
    np.testing.assert_array_equal(mask_of(found), MASK)
    assert layer.multiply_adds((B, P, D), (B, K)) == B * P * K * D


def test_sampled_logits_of_candidates_are_shared_out():
    logits = tensor(B, P + K)
    own, others = to_numpy(logits)[:, :P], to_numpy(logits)[:, None, P:]
    others = np.broadcast_to(others, (B, P, K))
    shared = NEGATIVES[:, None], LOG_Q[:, None]
    expected = sampled_logits(own, others, TARGETS, *shared)
    found = SampledLogits()(with_mask(logits, logits > 0), TARGETS, NEGATIVES, LOG_Q)
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), atol=1e-6)
    assert mask_of(found) is None


@pytest.mark.parametrize("number", [None, K])
def test_static_shapes(number):
    ids = [keras.Input((size,), dtype="int32") for size in (P, number)]
    states, log_q = keras.Input((P, D)), keras.Input((number,))
    found = TiedSampledLogits(embedding(), dtype="float32")(states, *ids, log_q)
    assert found.shape == (None, P, number and 1 + number)
    assert found.dtype == "float32"
