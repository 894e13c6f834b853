"""Dot-product attention against Keras's layer."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from tests.backend import tensor, to_numpy

B, T, S, H, V = 2, 5, 7, 11, 13


@pytest.mark.parametrize("scale", [False, True])
def test_equals_keras(scale):
    """Keras scales by a learned number; ours by `1 / sqrt(H)`."""
    query, value = tensor(B, T, H), tensor(B, S, V, seed=1)
    key = tensor(B, S, H, seed=2)
    keys = np.arange(S)[None] < np.array([[4], [S]])
    divisor = H**0.5 if scale else 1
    expected, expected_scores = keras.layers.Attention()(
        [query / divisor, value, key],
        mask=[None, keys],
        return_attention_scores=True,
    )
    output, scores = layers.DotProductAttention(scale=scale)(
        query, value, key, value_mask=keys, return_attention_scores=True
    )
    np.testing.assert_allclose(to_numpy(output), to_numpy(expected), atol=2e-6)
    np.testing.assert_allclose(to_numpy(scores), to_numpy(expected_scores), atol=2e-6)


def test_has_no_weights():
    layer = layers.DotProductAttention()
    layer(tensor(B, T, H), tensor(B, S, H))
    assert layer.weights == []
