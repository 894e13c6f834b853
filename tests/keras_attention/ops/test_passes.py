import numpy as np
import pytest

from keras_attention import masks
from keras_attention.ops import tiling
from keras_attention.ops.passes import Plan, Work, restored
from keras_attention.ops.problem import Problem
from keras_attention.ops.scores import scaled_dot
from tests.backend import tensor, to_numpy

B, N, L, H = 2, 3, 24, 5


@pytest.mark.parametrize("order", [[2, 0, 3, 1], [3, 1]])
def test_restored_undoes_an_order(order):
    x = to_numpy(tensor(B, 4, 3))
    found = to_numpy(restored(x[:, order], np.array(order), 4, 1, fill=7.0))
    expected = np.full_like(x, 7.0)
    expected[:, order] = x[:, order]
    np.testing.assert_array_equal(found, expected)
    assert restored(x, None, 4, 1, 0.0) is x


def works(mask, bias=None):
    problem = Problem(scaled_dot, mask, 0, 0.0, None)
    query, key, value = (tensor(B, N, L, H, seed=i) for i in range(3))
    biases = () if bias is None else (bias,)
    plan = Plan.of(problem, query, key, len(biases))
    return list(Work.each(plan, query, key, value, *biases)), (query, key, value)


def test_a_pass_has_its_inputs_in_its_order(monkeypatch):
    monkeypatch.setattr(tiling, "KEY_BLOCK", 4)
    monkeypatch.setattr(tiling, "TILE_ROWS", 6)
    bias = tensor(1, 1, L, L, seed=5)
    (work,), (query, key, value) = works(masks.Dilated(None, 4), bias)
    queries, keys = work.order
    for found, whole in ((work.query, query), (work.key, key), (work.value, value)):
        np.testing.assert_array_equal(to_numpy(found), to_numpy(whole)[:, :, queries])
    expected = to_numpy(bias)[:, :, queries][..., keys]
    np.testing.assert_array_equal(to_numpy(work.biases[0]), expected)


def test_most_masks_take_one_pass_in_natural_order():
    (work,), (query, *_) = works(masks.Causal())
    assert work.query is query
    assert work.order == masks.Order()


def test_as_many_heads_share_a_tile_as_fit(monkeypatch):
    monkeypatch.setattr(tiling, "TILE_ELEMENTS", L * L)
    (whole,), _ = works(None)
    assert (whole.heads, whole.groups) == (1, B * N)
    monkeypatch.setattr(tiling, "KEY_BLOCK", 4)
    monkeypatch.setattr(tiling, "TILE_ROWS", 6)
    (narrow,), _ = works(masks.Local(2))
    assert (narrow.batch_rows, narrow.heads, narrow.groups) == (B, N, 1)
