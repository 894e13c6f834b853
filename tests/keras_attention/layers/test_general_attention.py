"""Luong's general attention against its formula."""

import numpy as np

from keras_attention import layers
from tests.backend import tensor, to_numpy

B, T, S, H, K, V = 2, 5, 7, 11, 17, 13


def test_equals_its_formula():
    query, value, key = tensor(B, T, H), tensor(B, S, V), tensor(B, S, K)
    layer = layers.GeneralAttention()
    output, scores = layer(query, value, key, return_attention_scores=True)
    (kernel,) = layer.get_weights()
    assert kernel.shape == (H, K)
    q, v, k, w = (
        x.astype("float64") for x in map(to_numpy, (query, value, key, kernel))
    )
    exponentials = np.exp(np.einsum("bth,hk,bsk->bts", q, w, k))
    expected = exponentials / exponentials.sum(-1, keepdims=True)
    np.testing.assert_allclose(to_numpy(scores), expected, atol=2e-6)
    np.testing.assert_allclose(to_numpy(output), expected @ v, atol=1e-5)
