"""The linear bias against its formula, and through attention and its cache."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.ops import positions
from tests.backend import tensor, to_numpy
from tests.keras_attention.layers.test_position_bias import check_cached_steps


@pytest.mark.parametrize("num_heads", [4, 6])
def test_equals_the_formula(num_heads):
    found = to_numpy(layers.AlibiBias(num_heads)(tensor(2, 5, 3), tensor(2, 7, 3)))
    assert found.shape == (1, num_heads, 5, 7)
    slopes = positions.alibi_slopes(num_heads)
    for head, i, j in np.ndindex(num_heads, 5, 7):
        expected = -slopes[head] * abs(i + 2 - j)
        assert found[0, head, i, j] == pytest.approx(expected, rel=1e-6)


def test_far_positions_are_computed_in_float32():
    """In bfloat16 257 would be 256, and all products with it."""
    found = layers.AlibiBias(3, dtype="bfloat16")(query=1, key=1025)
    exact = to_numpy(layers.AlibiBias(3)(query=1, key=1025))
    expected = to_numpy(ops.cast(exact, "bfloat16"))
    np.testing.assert_array_equal(to_numpy(found), expected)


def test_cached_steps_equal_the_whole_sequence():
    check_cached_steps(layers.AlibiBias(3))


def test_near_keys_get_more_weight():
    x = np.ones((1, 6, 4), "float32")
    bias = layers.AlibiBias(2)(x)
    _, scores = layers.DotProductAttention()(
        x, x, attention_bias=bias[:, :1], return_attention_scores=True
    )
    scores = to_numpy(scores)[0]
    assert (np.diff(scores[-1]) > 0).all()
    assert (np.diff(scores[0]) < 0).all()


def test_heads_are_positive():
    with pytest.raises(ValueError, match="`num_heads` must be a positive integer"):
        layers.AlibiBias(0)
