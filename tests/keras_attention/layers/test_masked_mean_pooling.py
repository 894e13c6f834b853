"""The mean over real positions."""

import keras
import numpy as np
from keras import ops

from keras_attention import layers
from tests.backend import mask_of, tensor, to_numpy, with_mask


def test_c22_empty_sequence_is_zero():
    """C22 (a): 0, where a plain mean gives 0 / 0."""
    pooled = layers.MaskedMeanPooling()(tensor(1, 3, 2), mask=np.zeros((1, 3), bool))
    assert to_numpy(pooled).tolist() == [[0.0, 0.0]]


def test_c22_mean_divides_by_the_real_length():
    """C22 (b)."""
    x = ops.convert_to_tensor([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]])
    pooled = layers.MaskedMeanPooling()(x, mask=np.array([[1, 1, 0]]))
    assert to_numpy(pooled).tolist() == [[2.0, 3.0]]


def test_c22_through_embedding_attention_and_pooling():
    """C22 (c): the empty row is finite and changes nothing for the other."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(5, 6, mask_zero=True)(ids)
    for pooling in (layers.MaskedMeanPooling(), layers.AttentionPooling()):
        attended = layers.MultiHeadAttention(2, 3)(x, x)
        model = keras.Model(ids, pooling(attended))
        both = to_numpy(model(np.array([[1, 2], [0, 0]])))
        alone = to_numpy(model(np.array([[1, 2]])))
        np.testing.assert_allclose(both[0], alone[0], atol=1e-6)
        assert (both[1] == 0).all()


def test_without_a_mask_is_the_plain_mean():
    x = tensor(2, 5, 3)
    found = to_numpy(layers.MaskedMeanPooling()(x))
    np.testing.assert_allclose(found, to_numpy(x).mean(1), atol=1e-6)


def test_output_has_no_mask():
    x = with_mask(tensor(2, 5, 3), np.ones((2, 5), bool))
    assert mask_of(layers.MaskedMeanPooling()(x)) is None
