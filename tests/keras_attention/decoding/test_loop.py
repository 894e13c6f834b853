"""The loop over trees and the rows of a state."""

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding.loop import (
    as_tensors,
    reorder_rows,
    repeat_rows,
    while_loop,
)
from tests.backend import compiled


def test_loops_over_a_tree_and_keeps_none():
    def run(start):
        carry = (ops.zeros((), "int32"), {"sum": start, "nothing": None})
        return while_loop(
            lambda count, _: count < 3,
            lambda count, tree: (count + 1, {**tree, "sum": tree["sum"] + count}),
            carry,
        )[1]["sum"]

    total = compiled(run)(ops.ones((2,), "int32"))
    np.testing.assert_array_equal(ops.convert_to_numpy(total), [4, 4])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: {"x": x, "y": x}, "structure it received"),
        (lambda x: {"x": None}, "structure it received"),
        (lambda x: {"x": ops.concatenate([x, x])}, "full length from the start"),
        (lambda x: {"x": ops.cast(x, "int32")}, "dtypes it received"),
    ],
    ids=["more", "none", "shape", "dtype"],
)
def test_refuses_a_state_that_changes_its_form(change, message):
    carry = (ops.zeros((), "int32"), {"x": ops.ones((2, 3))})
    with pytest.raises(ValueError, match=message):
        while_loop(
            lambda count, _: count < 2,
            lambda count, tree: (count + 1, change(tree["x"])),
            carry,
        )


def test_repeats_batched_leaves_only():
    state = as_tensors({"x": np.array([[1], [2]]), "position": 5, "none": None})
    repeated = repeat_rows(state, 3)
    assert ops.convert_to_numpy(repeated["x"])[:, 0].tolist() == [1, 1, 1, 2, 2, 2]
    assert int(repeated["position"]) == 5
    assert repeated["none"] is None


def test_reordering_takes_lists_for_tuples_and_refuses_other_leaves():
    before = (ops.ones((2,)), [ops.zeros((2,))])
    after = [ops.ones((2,)), (ops.array([1.0, 2.0]),)]
    rows = ops.array([1, 1])
    reordered = reorder_rows(after, before, rows)
    assert isinstance(reordered, tuple)
    assert isinstance(reordered[1], list)
    assert ops.convert_to_numpy(reordered[1][0]).tolist() == [2, 2]
    with pytest.raises(ValueError, match="structure it received"):
        reorder_rows((ops.ones((2,)),), before, rows)


def test_reorders_changed_leaves_only():
    memory = ops.convert_to_tensor([1.0, 2.0, 3.0])
    before = {"memory": memory, "cache": memory, "position": ops.ones(()), "none": None}
    after = {**before, "cache": memory + 0.5}
    reordered = reorder_rows(after, before, ops.convert_to_tensor([2, 0, 0]))
    assert reordered["memory"] is memory
    assert reordered["position"] is before["position"]
    assert reordered["none"] is None
    cache = ops.convert_to_numpy(reordered["cache"])
    np.testing.assert_array_equal(cache, [3.5, 1.5, 1.5])
