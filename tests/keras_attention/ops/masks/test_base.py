"""The algebra, alignment, configs and refusals of masks."""

import inspect

import keras
import numpy as np
import pytest
from hypothesis import given
from keras import ops

from keras_attention import masks
from keras_attention.ops.masks import EMPTY, FULL, PARTIAL, Window
from tests.backend import to_numpy
from tests.keras_attention.ops.masks.cases import (
    B,
    N,
    S,
    T,
    dense,
    position_masks,
    quick,
    side_by_side,
)

# -------------------------------------------------------------------------- the algebra


def test_empty_and_partial_is_empty_but_or_is_partial():
    queries, keys = side_by_side(np.full(2, 4)), side_by_side(np.full(2, 4))
    padding = masks.Padding(np.ones((B, 8), int))
    both, either = masks.Causal() & padding, masks.Causal() | padding
    assert both.block_states(queries, keys)[0, 1] == EMPTY
    assert either.block_states(queries, keys)[0, 1] == PARTIAL
    assert either.block_states(queries, keys)[1, 0] == FULL


def test_not_turns_every_state():
    queries, keys = side_by_side(np.full(2, 4)), side_by_side(np.full(2, 4))
    causal = masks.Causal().block_states(queries, keys)
    assert causal.tolist() == [[PARTIAL, EMPTY], [FULL, PARTIAL]]
    found = (~masks.Causal()).block_states(queries, keys)
    assert found.tolist() == [[PARTIAL, FULL], [EMPTY, PARTIAL]]


def test_terms_of_a_product_of_unions():
    a, b, c = masks.Local(1), masks.Local(2), masks.Local(3)
    assert ((a | b) & c).terms() == [a & c, b & c]
    assert (a | (b & c)).terms() == [a, b & c]
    assert (a & b).terms() == [a & b]


@pytest.mark.parametrize(
    "make", [lambda x: masks.Causal() & x, lambda x: x | masks.Causal(), masks.Not]
)
def test_masks_combine_with_masks_only(make):
    with pytest.raises((ValueError, TypeError)):
        make(np.ones((T, S), bool))
    with pytest.raises(ValueError, match=r"wrap a tensor in `masks.Dense`.*ndarray"):
        masks.Causal() & np.ones((T, S), bool)


def test_run_time_masks_compare_by_identity():
    padding = masks.Padding(np.ones((B, S), bool))
    assert masks.Causal() & padding == masks.Causal() & padding
    assert masks.Causal() & padding != masks.Causal() & masks.Padding(padding.mask)
    assert len({masks.Causal() & padding, masks.Causal() & padding}) == 1


def test_tensors_can_be_exchanged():
    keys, dense_mask = np.ones((B, S), bool), np.ones((B, T, S), bool)
    mask = masks.Causal() & masks.Padding(keys) | ~masks.Dense(dense_mask)
    held = mask.tensors()
    assert [tuple(x.shape) for x in held] == [(B, S), (B, 1, T, S)]
    other = mask.with_tensors(iter([ops.logical_not(x) for x in held]))
    assert to_numpy(other.dense(T, S)).all()
    np.testing.assert_array_equal(
        to_numpy(mask.dense(T, S))[0, 0], dense(masks.Causal())
    )


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


# ------------------------------------------------------------------------------- tiles


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


# ----------------------------------------------------------------------------- configs


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


def test_registered_names():
    found = {getattr(masks, name) for name in masks.__all__ if name[0].isupper()}
    serializable = (masks.PositionMask, masks.And, masks.Or, masks.Not)
    for cls in filter(inspect.isclass, found - {masks.PositionMask}):
        if issubclass(cls, serializable):
            name = keras.saving.get_registered_name(cls)
            assert name == f"keras_attention>{cls.__name__}"


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
