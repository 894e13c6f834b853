"""What the bias layers share: lengths, offsets, shapes."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import compiled, mask_of, tensor, to_numpy, with_mask

MAKERS = [layers.AlibiBias, layers.RelativePositionBias]


def check_cached_steps(bias_layer):
    """Attention step by step under the bias equals that over the whole sequence.

    The cache has room for more than is ever written.
    """
    x = tensor(2, 6, 8)
    attention = layers.MultiHeadAttention(3, 4)
    bias = bias_layer(x)
    expected = to_numpy(attention(x, x, use_causal_mask=True, attention_bias=bias))
    cache = attention.empty_cache(2, 9)

    def step(now, cache, index):
        bias = bias_layer(now, key=9, query_offset=index)
        return attention(
            now,
            now,
            use_causal_mask=True,
            attention_bias=bias,
            cache=cache,
            cache_update_index=index,
        )

    step = compiled(step)
    for index in range(6):
        where = ops.convert_to_tensor(index, "int32")
        output, cache = step(x[:, index : index + 1], cache, where)
        np.testing.assert_allclose(
            to_numpy(output)[:, 0], expected[:, index], rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("make", MAKERS)
def test_lengths_or_tensors(make):
    layer = make(3)
    expected = to_numpy(layer(query=5, key=7))
    for query, key in ((tensor(2, 5, 4), tensor(2, 7, 4)), (tensor(1, 5, 3, 2), 7)):
        np.testing.assert_array_equal(to_numpy(layer(query, key=key)), expected)
    same = to_numpy(layer(tensor(2, 5, 4)))
    np.testing.assert_array_equal(same, to_numpy(layer(query=5, key=5)))


@pytest.mark.parametrize("make", MAKERS)
def test_an_offset_replaces_the_alignment_to_the_end(make):
    layer = make(3)
    whole = to_numpy(layer(query=7))
    np.testing.assert_array_equal(to_numpy(layer(query=2, key=7)), whole[:, :, 5:])
    found = layer(query=2, key=7, query_offset=3)
    np.testing.assert_array_equal(to_numpy(found), whole[:, :, 3:5])


@pytest.mark.parametrize("make", MAKERS)
def test_shapes_of_a_symbolic_call(make):
    query, key = keras.Input((None, 4)), keras.Input((7, 4))
    assert make(3)(query, key).shape == (1, 3, None, 7)
    assert make(3)(query, key=9).shape == (1, 3, None, 9)


@pytest.mark.parametrize("make", MAKERS)
def test_the_mask_of_a_query_is_not_that_of_a_bias(make):
    x = with_mask(tensor(2, 3, 4), np.ones((2, 3), bool))
    assert mask_of(make(3)(x)) is None
