"""Top-k accuracy: by hand, and where nothing may be won."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.metrics import (
    TopKAccuracy,
    accuracy,
    bootstrap_difference,
    top_k_accuracy,
    top_k_hits,
)

NAN = float("nan")
# Ranks of the classes in each row: (3, 1, 2, 4), (1, 2, 3, 4), (4, 3, 2, 1).
SCORES = np.array([[0.2, 0.4, 0.3, 0.1], [4, 3, 2, 1], [-4, -3, -2, -1]], "float32")
CONSTANT = np.full((6, 4), 0.25, "float32")
EVERY_CLASS = np.array([0, 1, 2, 3, 0, 1])


@pytest.mark.parametrize(("k", "expected"), [(1, 1), (2, 2), (3, 2), (4, 3)])
def test_by_hand(k, expected):
    labels = np.array([2, 0, 0])  # ranks 2, 1, 4
    assert top_k_accuracy(labels, SCORES, k) == pytest.approx(expected / 3)


def test_accuracy_is_that_of_the_largest_score():
    assert accuracy([1, 0, 3], SCORES) == 1
    assert accuracy([1, 1, 3], SCORES) == pytest.approx(2 / 3)


@pytest.mark.parametrize("value", [0.25, 0.0, NAN, float("inf")])
def test_a_model_that_says_the_same_of_every_class_scores_0(value):
    scores = np.full((6, 4), value, "float32")
    assert accuracy(EVERY_CLASS, scores) == 0
    assert top_k_accuracy(EVERY_CLASS, scores, k=3) == 0


def test_kerass_metric_gives_a_constant_model_everything():
    """What ours is there for; where this fails, its docstring has to change."""
    metric = keras.metrics.SparseTopKCategoricalAccuracy(k=1)
    metric.update_state(EVERY_CLASS, CONSTANT)
    assert float(metric.result()) == 1
    metric = keras.metrics.SparseCategoricalAccuracy()
    metric.update_state(EVERY_CLASS, np.full_like(CONSTANT, NAN))
    assert float(metric.result()) == pytest.approx(2 / 6)  # those of class 0


@pytest.mark.parametrize(
    ("scores", "k", "hit"),
    [
        ([3, 3, 1, 0], 1, False),  # may be the second
        ([3, 3, 1, 0], 2, True),  # the second at worst
        ([3, 4, 3, 3], 3, False),  # the fourth at worst
        ([3, NAN, 1, 0], 1, False),  # a NaN ranks before
        ([3, NAN, 1, 0], 2, True),
        ([NAN, 3, 1, 0], 4, False),  # its own NaN is no hit at all
        ([-1, -2, -3, -float("inf")], 1, True),
    ],
)
def test_ties_and_nan(scores, k, hit):
    found = top_k_hits([0], ops.convert_to_tensor([scores], dtype="float32"), k)
    assert ops.convert_to_numpy(found).tolist() == [hit]


def test_hits_go_into_the_bootstrap():
    right = ops.convert_to_numpy(top_k_hits(np.array([1, 0, 0]), SCORES))
    counts = np.stack([right, np.ones_like(right)], axis=1).astype(int)
    none = counts * [0, 1]
    found = bootstrap_difference(counts, none, lambda sums: sums[0] / sums[1])
    assert found.value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([0, 1], SCORES, r"Labels must be \(n,\).*labels=\(2,\)"),
        ([], SCORES[:0], "n above 0"),
        ([0], SCORES[0], r"scores=\(4,\)"),
        ([0, 1, 4], SCORES, "integers from 0 to 3.*largest=4"),
        ([0, 1, -1], SCORES, "integers from 0 to 3.*smallest=-1"),
        ([0.0, 1.0, 2.0], SCORES, "integers from 0 to 3.*float"),
    ],
)
def test_labels_must_be_classes(labels, scores, message):
    with pytest.raises(ValueError, match=message):
        accuracy(np.array(labels), scores)


def test_k_must_be_positive():
    with pytest.raises(ValueError, match="`k` must be a positive integer"):
        top_k_accuracy([0, 0, 0], SCORES, k=0)
    with pytest.raises(ValueError, match="`k` must be a positive integer"):
        TopKAccuracy(k=0)


# --------------------------------------------------------------------- the Keras metric


def test_metric_counts_over_batches_until_it_is_reset():
    metric = TopKAccuracy(k=2)
    metric.update_state(np.array([2]), SCORES[:1])
    metric.update_state(np.array([3, 0]), SCORES[1:])
    assert float(metric.result()) == pytest.approx(1 / 3)
    metric.reset_state()
    assert float(metric.result()) == 0


@pytest.mark.parametrize(
    "labels",
    [
        np.array([[1], [1], [3]]),
        np.eye(4, dtype="float32")[[1, 1, 3]],
        0.7 * np.eye(4)[[1, 1, 3]] + 0.3 * np.eye(4)[[0, 2, 2]],  # as mixup makes them
    ],
    ids=["column", "one_hot", "mixed"],
)
def test_metric_takes_labels_of_every_shape(labels):
    metric = TopKAccuracy()
    metric.update_state(labels, SCORES)
    assert float(metric.result()) == pytest.approx(2 / 3)


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_metric_weighs_examples(shape):
    metric = TopKAccuracy()
    weights = np.reshape(np.array([1.0, 3.0, 0.0]), shape)
    metric.update_state(np.array([1, 1, 3]), SCORES, sample_weight=weights)
    assert float(metric.result()) == pytest.approx(1 / 4)


def test_metric_of_a_constant_or_nan_model_is_0_in_evaluate():
    inputs = keras.Input((4,))
    model = keras.Model(inputs, keras.layers.Activation("linear")(inputs))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(loss=loss, metrics=[TopKAccuracy(), TopKAccuracy(k=3)])
    for scores in (CONSTANT, np.full_like(CONSTANT, NAN)):
        result = model.evaluate(scores, EVERY_CLASS, verbose=0, return_dict=True)
        assert result["accuracy"] == result["top_3_accuracy"] == 0
    result = model.evaluate(SCORES, np.array([1, 1, 3]), verbose=0, return_dict=True)
    assert result["accuracy"] == pytest.approx(2 / 3)


def test_metric_takes_half_precision():
    metric = TopKAccuracy()
    metric.update_state(np.array([1, 0, 0]), ops.cast(SCORES, "bfloat16"))
    assert float(metric.result()) == pytest.approx(2 / 3)


def test_metric_reloads_from_its_config():
    metric = TopKAccuracy(k=3, name="mine")
    config = keras.metrics.serialize(metric)
    assert config["registered_name"] == "keras_attention>TopKAccuracy"
    assert keras.metrics.deserialize(config).get_config() == metric.get_config()
