"""Masks: who may attend whom, the algebra, block states, configs, errors."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attention.ops import masks
from keras_attention.ops.masks import EMPTY, FULL, PARTIAL, Window
from tests.backend import to_numpy

B, N, T, S = 2, 3, 5, 7

# No deadline: the first example of a run compiles.
quick = settings(max_examples=50, deadline=None)
position_masks = st.recursive(
    st.just(masks.Causal()) | st.builds(masks.Local, st.integers(1, 12)),
    lambda inner: (
        st.builds(masks.And, inner, inner) | st.builds(masks.Or, inner, inner)
    ),
    max_leaves=5,
)


def dense(mask, query_length=T, key_length=S, offset=None):
    """The dense mask of all rows as an array without batch and heads."""
    return to_numpy(mask.dense(query_length, key_length, offset))[0, 0]


def by_hand(mask, query, key):
    """Whether one position may attend another, from the definitions."""
    if isinstance(mask, masks.And):
        return by_hand(mask.left, query, key) and by_hand(mask.right, query, key)
    if isinstance(mask, masks.Or):
        return by_hand(mask.left, query, key) or by_hand(mask.right, query, key)
    if isinstance(mask, masks.Local):
        return abs(query - key) < mask.window
    return key <= query


@quick
@given(position_masks, st.integers(1, 9), st.integers(1, 9), st.integers(-9, 9))
def test_dense_mask_follows_the_definition(mask, query_length, key_length, offset):
    expected = [
        [by_hand(mask, i + offset, j) for j in range(key_length)]
        for i in range(query_length)
    ]
    found = dense(mask, query_length, key_length, offset)
    np.testing.assert_array_equal(found, expected)


def spans(lengths, start=0):
    """First and last position of blocks of the given lengths, side by side."""
    ends = start + np.cumsum(lengths)
    return np.stack([ends - lengths, ends - 1], axis=1)


blocks = st.lists(st.integers(1, 6), min_size=1, max_size=5).map(np.array)


@quick
@given(position_masks, blocks, blocks, st.integers(-12, 12))
def test_block_states_agree_with_the_dense_mask(mask, heights, widths, offset):
    """EMPTY blocks hold no True, FULL ones no False; the rest may hold both."""
    queries, keys = spans(heights, offset), spans(widths)
    states = mask.block_states(queries, keys)
    whole = dense(mask, int(heights.sum()), int(widths.sum()), offset)
    for i, (first_row, last_row) in enumerate(queries - offset):
        for j, (first_key, last_key) in enumerate(keys):
            block = whole[first_row : last_row + 1, first_key : last_key + 1]
            if states[i, j] == EMPTY:
                assert not block.any()
            if states[i, j] == FULL:
                assert block.all()


@pytest.mark.parametrize("mask", [masks.Causal(), masks.Local(3)], ids=repr)
def test_states_of_one_mask_are_as_sharp_as_can_be(mask):
    """`PARTIAL` only where a block does hold both: no work is wasted."""
    queries, keys = spans(np.full(6, 4)), spans(np.full(8, 3))
    states = mask.block_states(queries, keys)
    whole = dense(mask, 24, 24, 0)
    for i, (first_row, last_row) in enumerate(queries):
        for j, (first_key, last_key) in enumerate(keys):
            block = whole[first_row : last_row + 1, first_key : last_key + 1]
            expected = FULL if block.all() else PARTIAL if block.any() else EMPTY
            assert states[i, j] == expected


def test_unknown_at_trace_time_is_partial():
    queries, keys = spans(np.full(2, 4)), spans(np.full(3, 4))
    for mask in (
        masks.Padding(np.ones((B, 12), int)),
        masks.Dense(np.ones((8, 12), int)),
    ):
        assert (mask.block_states(queries, keys) == PARTIAL).all()


def test_empty_and_partial_is_empty_but_or_is_partial():
    queries, keys = spans(np.full(2, 4)), spans(np.full(2, 4))
    padding = masks.Padding(np.ones((B, 8), int))
    both, either = masks.Causal() & padding, masks.Causal() | padding
    assert both.block_states(queries, keys)[0, 1] == EMPTY
    assert either.block_states(queries, keys)[0, 1] == PARTIAL
    assert either.block_states(queries, keys)[1, 0] == FULL


# --------------------------------------------------------------------- alignment, cases


def test_c07_causal_is_aligned_to_the_end():
    """C07: the newest query sees all cached keys."""
    assert dense(masks.Causal(), 1, 4).tolist() == [[True] * 4]
    assert dense(masks.Causal(), 2, 4).tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]


def test_c08_causal_with_more_queries_than_keys():
    """C08: the first rows have nothing to attend."""
    expected = [[0, 0], [0, 0], [1, 0], [1, 1]]
    assert dense(masks.Causal(), 4, 2).tolist() == expected


def test_query_offset_overrides_the_alignment():
    assert dense(masks.Causal(), 2, 4, offset=0).tolist() == [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
    ]
    offset = ops.convert_to_tensor(1, "int32")
    assert dense(masks.Causal(), 1, 4, offset=offset).tolist() == [[1, 1, 0, 0]]


def test_c24_local_window_counts_the_token_itself():
    """C24: exactly `window` keys under `Causal()`, `2 * window - 1` without."""
    causal = dense(masks.Causal() & masks.Local(3), 6, 6)
    assert causal.sum(1).tolist() == [1, 2, 3, 3, 3, 3]
    assert causal[-1].tolist() == [0, 0, 0, 1, 1, 1]
    assert dense(masks.Local(3), 9, 9)[4].sum() == 5


# ---------------------------------------------------------------------- run-time masks


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


@pytest.mark.parametrize(
    "make",
    [
        masks.Causal,
        lambda: masks.Local(2),
        lambda: masks.Padding(np.array([[1, 0] * 3 + [1]] * B), np.eye(T)[:B] > 0),
        lambda: masks.Dense(np.random.default_rng(0).integers(0, 2, (B, N, T, S))),
        lambda: masks.Dense(np.random.default_rng(0).integers(0, 2, (1, N, T, S))),
        lambda: masks.Causal() & masks.Padding(np.ones((B, S), int)) | masks.Local(1),
    ],
)
def test_tile_is_a_rectangle_of_the_dense_mask(make):
    mask = make()
    whole = np.broadcast_to(to_numpy(mask.dense(T, S)), (B, N, T, S))
    window = Window((1, 1), (1, 2), (2, 3), (3, 4), offset=S - T)
    found = np.broadcast_to(to_numpy(mask.tile(window)), (1, 2, 3, 4))
    np.testing.assert_array_equal(found, whole[1:2, 1:3, 2:5, 3:7])


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


@pytest.mark.parametrize("window", [0, -1, 2.0, True, None])
def test_windows_are_positive_integers(window):
    with pytest.raises(ValueError, match="`window` must be a positive integer"):
        masks.Local(window)


# ------------------------------------------------------------------ configs and algebra


@quick
@given(position_masks)
def test_position_masks_survive_their_config(mask):
    again = masks.position_mask(masks.serialize(mask))
    assert again == mask
    assert hash(again) == hash(mask)
    assert repr(again) == repr(mask)


def test_masks_that_differ_are_not_equal():
    assert masks.Local(2) != masks.Local(3)
    assert masks.Causal() & masks.Local(2) != masks.Causal() | masks.Local(2)
    assert masks.Causal() != "causal"


def test_repr_reads_as_written():
    mask = masks.Causal() & masks.Local(window=4) | masks.Local(window=2)
    assert repr(mask) == "((Causal() & Local(window=4)) | Local(window=2))"


@pytest.mark.parametrize("name", ["Causal", "Local", "And", "Or"])
def test_registered_names(name):
    cls = getattr(masks, name)
    assert keras.saving.get_registered_name(cls) == f"keras_attention>{name}"


def test_run_time_masks_stand_in_no_config():
    padding = masks.Padding(np.ones((B, S), int))
    for mask in (padding, masks.Causal() & padding, masks.Causal, 3):
        with pytest.raises(ValueError, match="`attention_mask` when calling the layer"):
            masks.position_mask(mask)
    assert masks.position_mask(None) is None


def test_combine_joins_what_is_there():
    assert masks.combine(None, None) is None
    assert masks.combine(None, masks.Causal()) == masks.Causal()
    joined = masks.combine(masks.Causal(), None, masks.Local(2))
    assert joined == masks.Causal() & masks.Local(2)


def test_as_mask_wraps_tensors_only():
    causal = masks.Causal()
    assert masks.as_mask(causal) is causal
    assert masks.as_mask(None) is None
    assert isinstance(masks.as_mask(np.ones((T, S), bool)), masks.Dense)
    with pytest.raises(ValueError, match="`attention_mask` must be bool or int"):
        masks.as_mask(np.ones((T, S)), "attention_mask")
