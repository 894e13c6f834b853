"""Labels that cannot fit are counted."""

import keras
import numpy as np
from keras import ops

from keras_attention.metrics import ImpossibleLabels
from tests.backend import with_mask

# The first and the third need three frames.
LABELS = np.array([[1, 1], [1, 2], [2, 2], [1, 0]])


def logits(*lengths):
    mask = np.arange(3) < np.array(lengths)[:, None]
    return with_mask(ops.zeros((len(lengths), 3, 4)), mask)


def test_c61_labels_that_cannot_fit_are_counted():
    metric = ImpossibleLabels()
    metric.update_state(LABELS, logits(2, 2, 3, 1))
    assert int(metric.result()) == 1
    metric.update_state(LABELS[:2], logits(1, 1))
    assert int(metric.result()) == 3
    metric.reset_state()
    assert int(metric.result()) == 0


def test_without_a_mask_all_frames_count():
    metric = ImpossibleLabels()
    metric.update_state(LABELS, ops.zeros((4, 2, 4)))
    assert int(metric.result()) == 2


def test_another_blank_pads_the_labels():
    metric = ImpossibleLabels(blank=2)
    metric.update_state(LABELS, ops.zeros((4, 2, 4)))
    assert int(metric.result()) == 1


def test_sample_weight_leaves_rows_out():
    metric = ImpossibleLabels()
    metric.update_state(LABELS, logits(2, 2, 2, 2), np.array([0.0, 1.0, 1.0, 1.0]))
    assert int(metric.result()) == 1


def test_reloads_from_its_config():
    metric = ImpossibleLabels(blank=3, name="mine")
    config = keras.metrics.serialize(metric)
    assert config["registered_name"] == "keras_attention>ImpossibleLabels"
    assert keras.metrics.deserialize(config).get_config() == metric.get_config()
