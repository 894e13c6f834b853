"""Masks that wrap run-time tensors."""

import numpy as np
import pytest
from keras import ops

from keras_attention import masks
from keras_attention.ops.masks import PARTIAL, Order, Window
from tests.backend import to_numpy
from tests.keras_attention.ops.masks.cases import B, N, S, T, side_by_side

IDS = np.arange(B * S).reshape(B, S) % 3


def test_padding_hides_keys_and_queries():
    keys = np.random.default_rng(0).integers(0, 2, (B, S))
    queries = np.random.default_rng(1).integers(0, 2, (B, T))
    found = to_numpy(masks.Padding(keys, queries).dense(T, S))
    expected = queries[:, None, :, None] * keys[:, None, None, :]
    np.testing.assert_array_equal(np.broadcast_to(found, (B, 1, T, S)), expected)
    only_queries = to_numpy(masks.Padding(query_mask=queries).dense(T, S))
    np.testing.assert_array_equal(only_queries[..., 0], queries[:, None, :])


@pytest.mark.parametrize("shape", [(T, S), (B, T, S), (B, N, T, S), (B, 1, 1, S)])
@pytest.mark.parametrize("dtype", ["bool", "int32"])
def test_dense_takes_every_rank(shape, dtype):
    mask = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    found = to_numpy(masks.Dense(mask).dense(T, S))
    lead = {2: (1, 1), 3: (B, 1), 4: shape[:2]}[len(shape)]
    np.testing.assert_array_equal(found, mask.reshape(*lead, *shape[-2:]).astype(bool))


def test_unknown_at_trace_time_is_partial():
    queries, keys = side_by_side(np.full(2, 4)), side_by_side(np.full(3, 4))
    for mask in (
        masks.Padding(np.ones((B, 12), int)),
        masks.Dense(np.ones((8, 12), int)),
    ):
        assert (mask.block_states(queries, keys) == PARTIAL).all()


def test_documents_attend_themselves_only():
    ids = np.array([[0, 0, 1, 1, 2], [5, 3, 3, 3, 3]])
    found = to_numpy(masks.Documents(ids).dense(5, 5))[:, 0]
    np.testing.assert_array_equal(found, ids[:, :, None] == ids[:, None, :])
    for mask in (masks.Documents(ids, ids[:, -2:]), masks.Documents(ids)):
        last = to_numpy(mask.dense(2, 5))[:, 0]  # the query's ids, or its position
        np.testing.assert_array_equal(last, found[:, -2:])
    longer = to_numpy(masks.Documents(ids).dense(7, 5))[:, 0]
    np.testing.assert_array_equal(longer[:, 2:], found)
    assert not longer[:, :2].any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: masks.Padding(np.eye(S)[:B] > 0, np.eye(T)[:B] > 0),
        lambda: masks.Padding(np.eye(S)[:B] > 0),
        lambda: masks.Padding(query_mask=np.eye(T)[:B] > 0),
        lambda: masks.Dense(np.random.default_rng(0).integers(0, 2, (B, N, T, S))),
        lambda: masks.Dense(np.random.default_rng(0).integers(0, 2, (B, 1, 1, S))),
        lambda: masks.Documents(IDS, IDS[:, :T] + 1),
        lambda: masks.Documents(IDS),
    ],
)
def test_reordered_is_the_dense_mask_in_another_order(make):
    mask = make()
    order = Order(np.array([3, 0, 4]), np.array([6, 1, 2, 5]))
    whole = np.broadcast_to(to_numpy(mask.dense(T, S)), (B, N, T, S))
    window = Window((0, B), (0, N), (0, 3), (0, 4), offset=S - T, order=order)
    if not isinstance(mask, masks.Documents):
        window = window._replace(batch=(0, None), heads=(0, None))
    found = to_numpy(mask.reordered(order).tile(window))
    expected = whole[:, :, order.queries][..., order.keys]
    np.testing.assert_array_equal(np.broadcast_to(found, (B, N, 3, 4)), expected)


# ----------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_float_masks_are_refused(dtype):
    mask = ops.cast(np.ones((B, S)), dtype)
    for make in (masks.Padding, lambda x: masks.Padding(query_mask=x), masks.Dense):
        with pytest.raises(ValueError, match=f"attention_bias.*dtype='{dtype}'"):
            make(mask)


def test_dense_of_another_rank_is_refused():
    with pytest.raises(ValueError, match=r"\(T, S\), \(B, T, S\) or.*shape=\(3,\)"):
        masks.Dense(np.ones(3, bool))


def test_documents_are_integers_of_rank_two():
    for ids in (np.ones((B, S)), np.ones(S, int)):
        with pytest.raises(ValueError, match=r"`ids` must be integers.*\(batch"):
            masks.Documents(ids)


def test_as_mask_wraps_tensors_only():
    causal = masks.Causal()
    assert masks.as_mask(causal) is causal
    assert masks.as_mask(None) is None
    assert isinstance(masks.as_mask(np.ones((T, S), bool)), masks.Dense)
    with pytest.raises(ValueError, match="`attention_mask` must be bool or int"):
        masks.as_mask(np.ones((T, S)), "attention_mask")
