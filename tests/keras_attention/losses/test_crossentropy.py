"""Masked cross-entropy: values, padding, weights, training, reload."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.losses import (
    MaskedCrossentropy,
    token_crossentropy,
    token_weights,
)

BATCH, LENGTH, CLASSES = 3, 5, 7


def batch(seed=0):
    """Labels (B, T) with padding at the ends, and logits (B, T, V)."""
    random = np.random.default_rng(seed)
    labels = random.integers(1, CLASSES, (BATCH, LENGTH))
    labels[0, 3:] = labels[2, 1:] = 0
    logits = random.normal(scale=3, size=(BATCH, LENGTH, CLASSES))
    return labels, logits.astype("float32")


def by_hand(labels, logits, label_smoothing):
    """Cross-entropy of every token with a one-hot target, in float64."""
    logits = logits.astype("float64")
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    target = (1 - label_smoothing) * np.eye(CLASSES)[labels] + label_smoothing / CLASSES
    return -(target * logs).sum(-1)


def test_c53_smoothing_leaves_padding_out():
    logits = ops.array([[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [5.0, 0.0, 0.0]]])
    loss = MaskedCrossentropy(label_smoothing=0.1, ignore_class=-1)
    value = float(loss(ops.array([[0, 2, -1]]), logits))
    assert value == pytest.approx(1.272878, abs=1e-6)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 0.5])
def test_equals_a_one_hot_target(label_smoothing):
    labels, logits = batch()
    expected = by_hand(labels, logits, label_smoothing)
    found = ops.convert_to_numpy(token_crossentropy(labels, logits, label_smoothing))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    real = labels != 0
    loss = MaskedCrossentropy(label_smoothing)(labels, logits)
    assert float(loss) == pytest.approx(expected[real].mean(), rel=1e-5)


def test_equals_keras_without_smoothing():
    labels, logits = batch()
    peer = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    expected = float(peer(labels, logits))
    assert float(MaskedCrossentropy()(labels, logits)) == pytest.approx(expected)


def test_more_padding_changes_nothing():
    labels, logits = batch()
    loss = MaskedCrossentropy(label_smoothing=0.1)
    wide_labels = np.pad(labels, [(0, 2), (0, 4)])
    wide_logits = np.pad(logits, [(0, 2), (0, 4), (0, 0)], constant_values=9)
    assert float(loss(wide_labels, wide_logits)) == pytest.approx(
        float(loss(labels, logits)), rel=1e-6
    )


def test_no_real_token_gives_zero():
    _, logits = batch()
    assert float(MaskedCrossentropy()(np.zeros((BATCH, LENGTH)), logits)) == 0


@pytest.mark.parametrize("shape", [(BATCH,), (BATCH, 1), (BATCH, LENGTH)])
def test_sample_weight_gives_a_weighted_mean(shape):
    labels, logits = batch()
    weight = np.random.default_rng(1).uniform(size=shape)
    expected = by_hand(labels, logits, 0.0)
    full = (labels != 0) * weight.reshape(BATCH, -1)
    found = MaskedCrossentropy()(labels, logits, sample_weight=weight)
    assert float(found) == pytest.approx((expected * full).sum() / full.sum(), rel=1e-5)


def test_token_weights_are_float32_and_zero_at_the_ignored_class():
    weights = ops.convert_to_numpy(token_weights(np.array([[3, 0, 2]]), 0))
    assert weights.dtype == np.float32
    assert weights.tolist() == [[1, 0, 1]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_is_computed_in_float32(dtype):
    """Half precision would round a mean of 11 nats over 60,000 classes away."""
    logits = ops.cast(ops.zeros((1, 2, 60_000)), dtype)
    loss = MaskedCrossentropy(label_smoothing=0.1)(ops.array([[1, 2]]), logits)
    assert keras.backend.standardize_dtype(loss.dtype) == "float32"
    assert float(loss) == pytest.approx(np.log(60_000), rel=1e-6)


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_trains_in_fit(policy):
    """A model of one embedding learns the next of a cycle of tokens."""
    keras.utils.set_random_seed(0)
    tokens = keras.Input((None,), dtype="int32")
    logits = keras.layers.Embedding(CLASSES, CLASSES, dtype=policy)(tokens)
    model = keras.Model(tokens, logits)
    model.compile("sgd", MaskedCrossentropy())
    model.optimizer.learning_rate = 20.0
    x = np.array([[1, 2, 3, 4, 5, 6], [4, 5, 6, 0, 0, 0]])
    y = np.array([[2, 3, 4, 5, 6, 1], [5, 6, 1, 0, 0, 0]])
    history = model.fit(x, y, epochs=12, shuffle=False, verbose=0).history["loss"]
    assert history[0] == pytest.approx(np.log(CLASSES), abs=0.05)
    assert history[-1] < 0.05


def test_reloads_from_its_config():
    loss = MaskedCrossentropy(0.2, ignore_class=3, name="mine")
    config = keras.losses.serialize(loss)
    assert config["registered_name"] == "keras_attention>MaskedCrossentropy"
    again = keras.losses.deserialize(config)
    assert again.get_config() == loss.get_config()
    labels, logits = batch()
    assert float(again(labels, logits)) == float(loss(labels, logits))


def test_refuses_smoothing_outside_its_range():
    with pytest.raises(ValueError, match=r"`label_smoothing` must be a number in"):
        MaskedCrossentropy(label_smoothing=1.0)
