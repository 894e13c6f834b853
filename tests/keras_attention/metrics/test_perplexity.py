"""Perplexity per real token, over batches of different widths."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.losses import token_crossentropy
from keras_attention.metrics import Perplexity

CLASSES = 7


def batch(rows, length, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, (rows, length))
    return labels, random.normal(scale=2, size=(rows, length, CLASSES))


def test_batches_count_by_their_real_tokens():
    metric = Perplexity()
    total, count = 0.0, 0
    for rows, length, seed in ((2, 3, 0), (5, 11, 1), (1, 2, 2)):
        labels, logits = batch(rows, length, seed)
        metric.update_state(labels, logits)
        losses = ops.convert_to_numpy(token_crossentropy(labels, logits))
        total += losses[labels != 0].sum()
        count += (labels != 0).sum()
    assert float(metric.result()) == pytest.approx(np.exp(total / count), rel=1e-5)


def test_uniform_logits_give_the_number_of_classes():
    metric = Perplexity(ignore_class=-1)
    metric.update_state(np.array([[0, 1, 2]]), np.zeros((1, 3, CLASSES)))
    assert float(metric.result()) == pytest.approx(CLASSES)


def test_sample_weight_leaves_rows_out():
    labels, logits = batch(3, 5, 0)
    metric, alone = Perplexity(), Perplexity()
    metric.update_state(labels, logits, sample_weight=np.array([0.0, 1.0, 0.0]))
    alone.update_state(labels[1:2], logits[1:2])
    assert float(metric.result()) == pytest.approx(float(alone.result()), rel=1e-6)


def test_resets_and_is_one_without_tokens():
    metric = Perplexity()
    metric.update_state(*batch(2, 3, 0))
    metric.reset_state()
    assert float(metric.result()) == 1


def test_is_float32_for_half_precision_logits():
    metric = Perplexity()
    metric.update_state(
        np.array([[1, 2]]), ops.cast(ops.zeros((1, 2, 60_000)), "bfloat16")
    )
    assert float(metric.result()) == pytest.approx(60_000, rel=1e-4)


def test_counts_in_fit():
    tokens = keras.Input((None,), dtype="int32")
    logits = keras.layers.Embedding(CLASSES, CLASSES, embeddings_initializer="zeros")
    model = keras.Model(tokens, logits(tokens))
    model.compile(
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[Perplexity()],
    )
    x = np.array([[1, 2, 0], [3, 4, 5]])
    result = model.evaluate(x, x, verbose=0, return_dict=True)
    assert result["perplexity"] == pytest.approx(CLASSES, rel=1e-5)


def test_reloads_from_its_config():
    metric = Perplexity(ignore_class=3, name="mine")
    config = keras.metrics.serialize(metric)
    assert config["registered_name"] == "keras_attention>Perplexity"
    assert keras.metrics.deserialize(config).get_config() == metric.get_config()
