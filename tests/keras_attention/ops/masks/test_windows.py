import numpy as np

from keras_attention.ops.masks import Blocks, Order, Window
from keras_attention.ops.masks.windows import taken
from tests.backend import tensor, to_numpy


def test_positions_of_a_window():
    window = Window((0, 1), (0, 1), (2, 3), (1, 2), offset=10)
    assert to_numpy(window.query_positions()).tolist() == [12, 13, 14]
    assert to_numpy(window.key_positions()).tolist() == [1, 2]


def test_positions_of_a_window_in_another_order():
    order = Order(np.array([4, 0, 3, 1, 2]), np.array([7, 5, 6]))
    window = Window((0, 1), (0, 1), (2, 3), (1, 2), offset=10, order=order)
    assert to_numpy(window.query_positions()).tolist() == [13, 11, 12]
    assert to_numpy(window.key_positions()).tolist() == [5, 6]


def test_taken_leaves_axes_that_broadcast():
    x = tensor(2, 1, 5)
    indices = np.array([3, 1])
    assert taken(x, None, 2) is x
    assert taken(x, indices, 1) is x
    found = to_numpy(taken(x, indices, 2))
    np.testing.assert_array_equal(found, to_numpy(x)[..., indices])


def test_blocks_know_hulls_and_residues():
    blocks = Blocks(np.array([0, 3, 6, 1, 4]), np.array([0, 2, 4]))
    assert len(blocks) == 3
    assert blocks.first.tolist() == [0, 1, 4]
    assert blocks.last.tolist() == [3, 6, 4]
    low, high = blocks.residues(3)
    assert low.tolist() == [0, 0, 1]
    assert high.tolist() == [0, 1, 1]
