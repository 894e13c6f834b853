"""Rollout against products made by hand."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.interpretation import Record, capture, rollout

FIRST = np.array([[0.0, 1.0], [0.5, 0.5]])
SECOND = np.array([[1.0, 0.0], [0.2, 0.8]])
# With half of the identity: [[.5, .5], [.25, .75]], then [[1, 0], [.1, .9]] times it.
BOTH = np.array([[0.5, 0.5], [0.275, 0.725]])


def weights(*shape, seed=0):
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.ones(shape[-1]), size=shape[:-1])


def test_by_hand():
    """Later layers stand left: their rows are read last."""
    found = rollout([FIRST[None], ops.convert_to_tensor(SECOND[None])])
    np.testing.assert_allclose(found, BOTH[None], atol=1e-7)


@pytest.mark.parametrize(
    ("heads", "joined"),
    [
        ("mean", [[0.5, 0.5], [0.35, 0.65]]),
        ("max", [[1.0, 1.0], [0.5, 0.8]]),
        ("min", [[0.0, 0.0], [0.2, 0.5]]),
    ],
)
def test_heads_are_joined_and_rows_made_to_sum_to_1(heads, joined):
    found = rollout([np.stack([FIRST, SECOND])[None]], heads=heads)[0]
    mixed = np.array(joined) + np.eye(2)
    expected = mixed / mixed.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_images_stay_apart_and_rows_sum_to_1():
    scores = [weights(3, 2, 5, 5, seed=seed) for seed in range(4)]
    found = rollout(scores)
    assert found.shape == (3, 5, 5)
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-12)
    alone = rollout([layer[1:2] for layer in scores])
    np.testing.assert_allclose(found[1:2], alone, atol=1e-12)


def test_residual():
    scores = [weights(1, 2, 5, 5, seed=seed) for seed in range(2)]
    plain = scores[1].mean(axis=1) @ scores[0].mean(axis=1)
    np.testing.assert_allclose(rollout(scores, residual=0), plain, atol=1e-7)
    almost = rollout(scores, residual=0.999)
    np.testing.assert_allclose(almost[0], np.eye(5), atol=0.01)


def test_rows_that_attend_nothing_keep_to_themselves():
    padded = np.array([[[1.0, 0.0], [0.0, 0.0]]])
    np.testing.assert_array_equal(rollout([padded] * 3), np.eye(2)[None])
    np.testing.assert_array_equal(rollout([padded], residual=0), padded)


def test_discard_sets_each_images_smallest_scores_to_0():
    one = np.array([[0.7, 0.3], [0.4, 0.6]])
    other = np.array([[0.1, 0.9], [0.8, 0.2]])
    found = rollout([np.stack([one, other])], discard=0.5, residual=0)
    np.testing.assert_array_equal(found, [np.eye(2), np.eye(2)[::-1]])


def test_of_a_record_self_attention_counts():
    record = Record()
    record.add("encoder_0", ops.convert_to_tensor(FIRST[None, None]))
    record.add("cross", ops.ones((1, 1, 2, 3)))
    record.add("encoder_1", ops.convert_to_tensor(SECOND[None, None]))
    record.add("pooling", ops.ones((1, 2)))
    np.testing.assert_allclose(rollout(record), BOTH[None], atol=1e-7)


def test_gates_of_square_shapes_are_left_out():
    """Sigmoids of a map whose width is its number of channels, beside attention."""
    record = Record()
    record.add("gate", ops.full((1, 2, 2, 2), 0.4))
    record.add("encoder_0", ops.convert_to_tensor(FIRST[None, None]))
    record.add("encoder_1", ops.convert_to_tensor(SECOND[None, None]))
    np.testing.assert_allclose(rollout(record), BOTH[None], atol=1e-7)


def test_rows_of_bfloat16_and_rows_of_nothing_count():
    scores = weights(1, 2, 50, 50)
    scores[0, :, 7] = 0
    record = Record()
    record.add("encoder", ops.convert_to_tensor(scores, "bfloat16"))
    np.testing.assert_allclose(rollout(record), rollout([scores]), atol=2e-3)


def test_layers_can_be_named():
    """Attention to another sequence of the same length looks like self-attention."""
    record = Record()
    record.add("decoder_0/self_attention", ops.convert_to_tensor(FIRST[None, None]))
    record.add("decoder_0/cross_attention", ops.convert_to_tensor(SECOND[None, None]))
    record.add("decoder_1/self_attention", ops.convert_to_tensor(SECOND[None, None]))
    names = ["decoder_0/self_attention", "decoder_1/self_attention"]
    np.testing.assert_allclose(rollout(record, names=names), BOTH[None], atol=1e-7)
    assert not np.allclose(rollout(record), BOTH[None])
    alone = rollout(record, names=["cross_attention"])
    np.testing.assert_allclose(alone, rollout([SECOND[None]]), atol=1e-7)


def test_names_must_be_those_of_a_record():
    with pytest.raises(ValueError, match="`names` chooses from a `Record`"):
        rollout([FIRST[None]], names=["encoder_0"])
    record = Record()
    record.add("encoder_0", ops.ones((1, 2, 3)))
    with pytest.raises(ValueError, match="must fit exactly one of"):
        rollout(record, names=["encoder_1"])
    with pytest.raises(ValueError, match="must hold self-attention of the shape"):
        rollout(record, names=["encoder_0"])


def test_of_a_captured_model():
    x = keras.Input((6, 4))
    y = x
    for index in range(2):
        y = y + layers.MultiHeadAttention(2, 3, name=f"block_{index}")(y, y)
    y = layers.AttentionPooling()(y)
    inputs = np.random.default_rng(0).normal(size=(3, 6, 4)).astype("float32")
    record = capture(keras.Model(x, y), inputs)
    expected = rollout([record["block_0"], record["block_1"]])
    np.testing.assert_array_equal(rollout(record), expected)
    assert len(record) == 3


@pytest.mark.parametrize(
    "scores",
    [[], [np.ones((1, 2, 3))], [np.ones((2, 2))], [FIRST[None], np.ones((1, 3, 3))]],
    ids=["none", "cross", "no_batch", "other_length"],
)
def test_what_is_no_encoder_is_refused(scores):
    with pytest.raises(ValueError, match=r"must hold self-attention of the shape"):
        rollout(scores)


def test_options_are_checked():
    with pytest.raises(ValueError, match="`heads` must be one of 'max', 'mean', 'min'"):
        rollout([FIRST[None]], heads="sum")
    with pytest.raises(ValueError, match="`residual` must be a number in"):
        rollout([FIRST[None]], residual=1)
    with pytest.raises(ValueError, match="`discard` must be a number in"):
        rollout([FIRST[None]], discard=1)
