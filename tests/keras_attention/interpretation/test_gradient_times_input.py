"""Gradient times input of a linear classifier is what each word adds."""

import numpy as np
import pytest

from keras_attention import models
from keras_attention.interpretation import gradient_times_input
from keras_attention.models.text_classifier import KINDS
from tests.backend import slow_on_jax, to_numpy
from tests.keras_attention.interpretation.toy_texts import (
    KERNEL,
    TABLE,
    linear_classifier,
)

IDS = np.array([[1, 2, 4], [3, 0, 0]])


def test_by_hand():
    """The log odds of class 1 are the mean of `2 x_0 - 4 x_1` over the words."""
    found = gradient_times_input(linear_classifier(), IDS, "embedding", classes=1)
    np.testing.assert_allclose(found, [[2 / 3, -4 / 3, -6 / 3], [4, 0, 0]], rtol=1e-5)


@pytest.mark.parametrize("classes", [None, 0, [1, 0]])
def test_words_add_up_to_the_score_of_a_linear_model(classes):
    model = linear_classifier()
    logits = to_numpy(model(IDS))
    chosen = logits.argmax(1) if classes is None else np.broadcast_to(classes, 2)
    odds = logits[[0, 1], chosen] - logits[[0, 1], 1 - chosen]
    found = gradient_times_input(model, IDS, model.get_layer("embedding"), classes)
    np.testing.assert_allclose(found.sum(axis=1), odds, rtol=1e-5)
    assert TABLE.shape[1] == KERNEL.shape[0]


@pytest.mark.parametrize("kind", slow_on_jax(KINDS, "mean_embeddings"))
def test_every_kind_of_classifier(kind):
    model = models.TextClassifier(9, 3, kind, hidden_dim=8, num_heads=2)
    found = gradient_times_input(model, np.array([[5, 6, 7], [8, 0, 0]]), "embedding")
    assert found.dtype == np.float32
    assert (found[0] != 0).all()
    np.testing.assert_array_equal(found[1, 1:], 0)


def test_a_layer_without_positions_is_refused():
    with pytest.raises(ValueError, match=r"return vectors of positions, \(B, T, D\)"):
        gradient_times_input(linear_classifier(), IDS, "logits")
