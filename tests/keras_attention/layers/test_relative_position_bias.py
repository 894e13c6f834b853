"""T5's bias: what each head learned about a bucket, at every pair of that bucket."""

import numpy as np
import pytest

from keras_attention import layers
from keras_attention.ops import positions
from tests.backend import of_variables, tensor, to_numpy, value_and_gradients
from tests.keras_attention.layers.test_position_bias import check_cached_steps
from tests.keras_attention.ops.test_positions import bucket_by_hand


@pytest.mark.parametrize("bidirectional", [True, False])
def test_looks_up_the_bucket_of_each_pair(bidirectional):
    layer = layers.RelativePositionBias(3, 8, 6, bidirectional)
    found = to_numpy(layer(query=9, key=11))
    (table,) = layer.get_weights()
    assert table.shape == (8, 3)
    for i, j in np.ndindex(9, 11):
        bucket = bucket_by_hand(j - (i + 2), 8, 6, bidirectional)
        np.testing.assert_array_equal(found[0, :, i, j], table[bucket])


def test_every_pair_trains_its_bucket():
    layer = layers.RelativePositionBias(3, 4, 3, bidirectional=False)
    layer(query=5)
    function, variables = of_variables(layer, lambda: layer(query=5))
    value, (gradient,) = value_and_gradients(function, *variables)
    expected = np.zeros((4, 3))
    for i, j in np.ndindex(5, 5):
        bucket = bucket_by_hand(j - i, 4, 3, bidirectional=False)
        expected[bucket] += np.cos(value[0, :, i, j])
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_cached_steps_equal_the_whole_sequence():
    check_cached_steps(layers.RelativePositionBias(3, 6, 4, initializer="normal"))


def test_more_buckets_from_a_trained_table():
    """Direction by direction, as the docstring says: the ends stay where they were."""
    short = layers.RelativePositionBias(2, 8, 8)
    longer = layers.RelativePositionBias(2, 16, 16)
    for layer in (short, longer):
        layer.build()
    (table,) = short.get_weights()
    longer.set_weights([positions.resized(table, (2, 8), grid=(2, 4))])
    (found,) = longer.get_weights()
    for new, old in ((0, 0), (7, 3), (8, 4), (15, 7)):
        np.testing.assert_allclose(found[new], table[old], rtol=1e-6)
    assert tuple(longer(tensor(1, 3, 4)).shape) == (1, 2, 3, 3)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"num_buckets": 5}, "`num_buckets` must be at least two .*, and even"),
        ({"num_buckets": 2}, "`num_buckets` must be at least two"),
        ({"max_distance": 8}, "`max_distance` must be greater.*max_distance=8"),
        ({"num_heads": 0}, "`num_heads` must be a positive integer"),
    ],
)
def test_refused_arguments(options, match):
    with pytest.raises(ValueError, match=match):
        layers.RelativePositionBias(**{"num_heads": 3, **options})
