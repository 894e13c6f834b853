"""The score that is explained, and gradients for what a layer returns."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation._gradients import (
    chosen_classes,
    found_layer,
    log_odds,
    output_and_gradient,
)
from tests.backend import to_numpy
from tests.keras_attention.interpretation.toy_texts import linear_classifier

LOGITS = np.array([[1.0, 3.0, 0.0], [2.0, 2.0, -1.0]], "float32")


def test_log_odds_by_hand():
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
    for classes, chosen in ((None, [1, 0]), (2, [2, 2]), ([0, 2], [0, 2])):
        own = p[[0, 1], chosen]
        found = to_numpy(log_odds(ops.convert_to_tensor(LOGITS), classes))
        np.testing.assert_allclose(found, np.log(own / (1 - own)), rtol=1e-5)


def test_log_odds_do_not_fade_where_the_model_is_sure():
    sure = ops.convert_to_tensor(np.array([[200.0, -100.0]], "float32"))
    assert float(log_odds(sure, None)[0]) == 300


def test_one_class_has_no_odds():
    with pytest.raises(ValueError, match="two classes or more"):
        log_odds(ops.ones((2, 1)), None)


def test_chosen_classes():
    found = to_numpy(chosen_classes(ops.convert_to_tensor(LOGITS), [2, 0]))
    assert found.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_the_gradient_for_a_layer_that_is_inside():
    model = linear_classifier()
    output, gradient = output_and_gradient(
        model,
        np.array([[1, 2, 0]]),
        found_layer(model, "embedding"),
        lambda scores: ops.sum(scores, axis=-1),
        axes=3,
        expected="return vectors",
    )
    assert output.shape == gradient.shape == (1, 3, 2)
    np.testing.assert_allclose(to_numpy(gradient)[0], [[2, -2], [2, -2], [0, 0]])


def test_a_layer_of_other_axes_is_refused():
    model = linear_classifier()
    with pytest.raises(ValueError, match="called once and return vectors"):
        output_and_gradient(
            model,
            np.array([[1]]),
            found_layer(model, "logits"),
            lambda scores: scores[:, 0],
            axes=3,
            expected="return vectors",
        )
    with pytest.raises(ValueError, match="`layer` must name exactly one"):
        found_layer(model, "nowhere")


def test_a_model_of_other_outputs_is_refused():
    x = keras.Input((2, 3))
    with pytest.raises(ValueError, match=r"scores of the shape \(B, classes\)"):
        chosen_classes(keras.Model(x, x)(np.ones((1, 2, 3))), None)
