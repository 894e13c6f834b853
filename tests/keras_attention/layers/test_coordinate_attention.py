import numpy as np
from keras import ops

from keras_attention import layers
from tests.backend import tensor, to_numpy

# Means of the rows 2 and 3, of the columns 1.5 and 3.5.
X = np.array([[[[1], [3]], [[2], [4]]]], "float32")


def by_hand(activation="relu"):
    """Rows weigh sigmoid(z - 2), columns sigmoid(2 z - 3); one unit passes z on."""
    layer = layers.CoordinateAttention(ratio=1, min_units=1, activation=activation)
    layer(X)
    norm = [[1], [0], [0], [1 - 1e-3]]  # with Keras's epsilon it changes nothing
    weights = [[[1]], *norm, [[1]], [-2], [[2]], [-3]]
    by_layer = (layer.reduce, layer.norm, layer.row_gate, layer.column_gate)
    variables = [x for part in by_layer for x in part.weights]
    for variable, value in zip(variables, weights, strict=True):
        variable.assign(np.array(value, "float32"))
    return layer


ROWS, COLUMNS = np.array([0.5, 0.731059]), np.array([0.5, 0.982014])


def test_equals_its_values_by_hand():
    output, gate = by_hand()(X, return_attention_scores=True)
    expected = np.outer(ROWS, COLUMNS)
    np.testing.assert_allclose(to_numpy(gate)[0, ..., 0], expected, atol=1e-6)
    np.testing.assert_allclose(
        to_numpy(output)[0, ..., 0], X[0, ..., 0] * expected, atol=1e-5
    )


def test_the_activation_is_between():
    """hard_silu(z) = z (z + 3) / 6 below 3, here of 2 and 1.5."""
    _, gate = by_hand("hard_silu")(X, return_attention_scores=True)
    rows = 1 / (1 + np.exp(2 - np.array([2 * 5 / 6, 3])))
    columns = 1 / (1 + np.exp(3 - 2 * np.array([1.5 * 4.5 / 6, 3.5])))
    np.testing.assert_allclose(
        to_numpy(gate)[0, ..., 0], np.outer(rows, columns), atol=1e-6
    )


def test_a_row_knows_where_it_is():
    """What moves from one row to another changes the gates of both and no others."""
    layer = layers.CoordinateAttention(ratio=1, min_units=1)
    x = to_numpy(tensor(1, 5, 3, 4)).copy()
    _, before = layer(x, return_attention_scores=True)
    x[0, [1, 3], 0] = x[0, [3, 1], 0]  # within a column, whose mean stays
    _, after = layer(ops.convert_to_tensor(x), return_attention_scores=True)
    changed = np.abs(to_numpy(after) - to_numpy(before))[0].max((1, 2)) > 1e-6
    np.testing.assert_array_equal(changed, [False, True, False, True, False])


def test_parameters():
    layer = layers.CoordinateAttention(ratio=4, min_units=1)
    layer(tensor(2, 3, 5, 8))
    assert layer.count_params() == 3 * 8 * 2 + 2 * 8 + 4 * 2


def test_units_never_fall_below_the_fewest():
    layer = layers.CoordinateAttention()
    layer(tensor(2, 3, 5, 16))
    assert layer.reduce.kernel.shape == (16, 8)
