"""Bahdanau's additive attention."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import tensor, to_numpy


def test_c23_scores_and_context_are_bahdanaus():
    """C23: with projections of query and key, the published numbers."""
    layer = layers.AdditiveAttention(2)
    query = ops.convert_to_tensor([[[1.0, 0.0]]])
    value = ops.convert_to_tensor([[[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]]])
    layer(query, value)
    layer.query_dense.set_weights([np.array([[0.5, -0.25], [0.1, 0.3]])])
    layer.key_dense.set_weights([np.array([[0.2, 0.4], [-0.3, 0.6]])])
    layer.score_variables[0].assign([1.0, -2.0])
    output, scores = layer(query, value, return_attention_scores=True)
    expected = [[[0.023335, 0.938768, 0.037897]]]
    np.testing.assert_allclose(to_numpy(scores), expected, atol=1e-6)
    np.testing.assert_allclose(to_numpy(output), [[[0.137025, -0.854202]]], atol=1e-6)


def test_number_of_parameters():
    layer = layers.AdditiveAttention(7)
    layer(tensor(2, 3, 5), tensor(2, 3, 11), tensor(2, 3, 13))
    assert layer.count_params() == (5 + 13 + 1) * 7


@pytest.mark.parametrize("units", [0, -2, 1.5])
def test_units_are_positive(units):
    with pytest.raises(ValueError, match="`units` must be a positive integer"):
        layers.AdditiveAttention(units)
