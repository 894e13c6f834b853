import numpy as np
import pytest
from keras import ops

from keras_attention import masks
from keras_attention.ops.problem import Problem, add_bias, drop, promote
from keras_attention.ops.scores import scaled_dot
from tests.backend import tensor, to_numpy


def test_tensors_are_exchanged_in_their_order():
    keys = np.array([[1, 0, 1]], bool)
    offset, seed = ops.convert_to_tensor(3), ops.convert_to_tensor([1, 2])
    problem = Problem(scaled_dot, masks.Padding(keys), offset, 0.1, seed)
    held = problem.tensors()
    assert [tuple(x.shape) for x in held] == [(1, 3), (), (2,)]
    other = problem.with_tensors([~keys, ops.convert_to_tensor(4), seed])
    assert int(other.offset) == 4
    np.testing.assert_array_equal(to_numpy(other.mask.mask), ~keys)
    assert (other.score, other.dropout) == (scaled_dot, 0.1)


def test_what_is_no_tensor_stays():
    problem = Problem(scaled_dot, masks.Causal(), 3, 0.0, None)
    assert problem.tensors() == ()
    assert problem.with_tensors(()) == problem


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("float16", "float32"), ("bfloat16", "bfloat16"), ("float32", "float32")],
)
def test_only_float16_is_promoted(dtype, expected):
    assert expected in str(promote(tensor(2, dtype=dtype)).dtype)


def test_a_bias_never_hides():
    """An infinite one becomes a large number, so that a row of them is even."""
    logits = add_bias(tensor(1, 1, 2, 3), ops.full((1, 1, 1, 3), -np.inf))
    assert np.isfinite(to_numpy(logits)).all()
    assert np.ptp(to_numpy(logits)) == 0


def test_drop_scales_what_it_keeps():
    scores = ops.ones((2, 2))
    kept = drop(scores, np.array([[True, False], [False, True]]), 0.75)
    assert to_numpy(kept).tolist() == [[4, 0], [0, 4]]
