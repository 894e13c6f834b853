"""Cosines by hand, and of a table whose similarities are known."""

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import position_similarity
from keras_attention.layers import PositionEmbedding


def test_by_hand():
    table = np.array([[2.0, 0.0], [3.0, 3.0], [0.0, -1.0], [0.0, 0.0]])
    found = position_similarity(table, grid=(2, 2))
    half = np.sqrt(0.5)
    np.testing.assert_allclose(found[0, 0], [[1, half], [0, 0]], atol=1e-6)
    np.testing.assert_allclose(found[0, 1], [[half, 1], [-half, 0]], atol=1e-6)
    np.testing.assert_array_equal(found[1, 1], 0)  # a vector of zeros


def test_rows_and_columns_of_a_grid_that_is_not_square():
    """Vectors that say their row only: alike within a row, unlike across."""
    table = np.repeat(np.eye(2), 3, axis=0)
    found = position_similarity(table, grid=(2, 3))
    assert found.shape == (2, 3, 2, 3)
    assert found[0, 2].tolist() == [[1, 1, 1], [0, 0, 0]]
    assert found[1, 0].tolist() == [[0, 0, 0], [1, 1, 1]]


def test_a_class_token_is_left_out():
    table = np.random.default_rng(0).normal(size=(7, 4))
    found = position_similarity(table, (2, 3))
    np.testing.assert_array_equal(found, position_similarity(table[1:], (2, 3)))


def test_of_a_layers_table():
    layer = PositionEmbedding(6)
    layer(ops.ones((1, 6, 4)))
    found = position_similarity(layer.embeddings, (2, 3)).reshape(6, 6)
    np.testing.assert_allclose(np.diag(found), 1, atol=1e-6)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("shape", [(5, 4), (8, 4), (6,), (1, 6, 4)])
def test_another_table_is_refused(shape):
    with pytest.raises(ValueError, match=r"before them: 6 or 7\..*grid=\(2, 3\)"):
        position_similarity(np.ones(shape), (2, 3))
