"""The attention that the pooling layers share."""

import numpy as np
import pytest
from keras import ops

from keras_attention.layers._pooling import BasePooling, weigh
from tests.backend import tensor, to_numpy

B, S, D, H, K = 2, 5, 7, 3, 4


def softmax(logits, mask):
    exponentials = np.exp(logits) * mask
    return exponentials / exponentials.sum(-1, keepdims=True)


@pytest.mark.parametrize("shape", [(K, H), (B, K, H)])
def test_weigh_equals_its_formula(shape):
    query, key, value = tensor(*shape), tensor(B, S, H), tensor(B, S, D)
    mask = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], bool)
    output, scores = weigh(query, key, value, ops.convert_to_tensor(mask))
    numbers = [to_numpy(x).astype("float64") for x in (query, key, value)]
    logits = np.broadcast_to(numbers[0], (B, K, H)) @ numbers[1].swapaxes(1, 2)
    expected = softmax(logits, mask[:, None])
    np.testing.assert_allclose(to_numpy(scores), expected, atol=1e-6)
    np.testing.assert_allclose(to_numpy(output), expected @ numbers[2], atol=1e-6)


def test_weigh_takes_a_score_with_weights():
    query, key, kernel = tensor(K, D), tensor(B, S, H), tensor(D, H)
    _, scores = weigh(query, key, key, None, "general", (kernel,))
    projected = ops.matmul(query, kernel)
    _, expected = weigh(projected, key, key)
    np.testing.assert_allclose(to_numpy(scores), to_numpy(expected), atol=1e-6)


def test_a_layer_says_how_it_pools():
    with pytest.raises(NotImplementedError):
        BasePooling()(tensor(B, S, D))
