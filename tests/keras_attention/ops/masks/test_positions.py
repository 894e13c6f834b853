"""Masks of positions against their definitions, whole and in blocks of any order."""

import functools

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_attention import masks
from keras_attention.ops.masks import EMPTY, FULL, PARTIAL, Blocks
from tests.keras_attention.ops.masks.cases import (
    by_hand,
    dense,
    position_masks,
    quick,
    side_by_side,
)


@quick
@given(position_masks, st.integers(1, 9), st.integers(1, 9), st.integers(-9, 9))
def test_dense_mask_follows_the_definition(mask, query_length, key_length, offset):
    expected = [
        [by_hand(mask, i + offset, j) for j in range(key_length)]
        for i in range(query_length)
    ]
    found = dense(mask, query_length, key_length, offset)
    np.testing.assert_array_equal(found, expected)


@quick
@given(position_masks, st.data())
def test_block_states_are_never_wrong(mask, data):
    """EMPTY blocks hold no True and FULL ones no False, in whatever order."""
    offset = data.draw(st.integers(-12, 12))
    positions = [np.array(data.draw(st.permutations(range(12)))) for _ in range(2)]
    height, width = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    queries = Blocks(positions[0] + offset, np.arange(0, 12, height))
    keys = Blocks(positions[1], np.arange(0, 12, width))
    states = mask.block_states(queries, keys)
    whole = dense(mask, 12, 12, offset)[positions[0]][:, positions[1]]
    for i, j in np.ndindex(states.shape):
        block = whole[i * height : (i + 1) * height, j * width : (j + 1) * width]
        if states[i, j] == EMPTY:
            assert not block.any()
        if states[i, j] == FULL:
            assert block.all()


SHARP = [
    masks.Causal(),
    masks.Local(3),
    masks.Block(4),
    masks.Prefix(5),
    masks.Predicate(lambda i, j: (i + j) % 7 < 3),
]


@pytest.mark.parametrize("mask", SHARP, ids=repr)
def test_states_of_one_mask_are_as_sharp_as_can_be(mask):
    """`PARTIAL` only where a block does hold both: no work is wasted."""
    states = mask.block_states(side_by_side(np.full(6, 4)), side_by_side(np.full(8, 3)))
    whole = dense(mask, 24, 24, 0)
    for i, j in np.ndindex(states.shape):
        block = whole[4 * i : 4 * i + 4, 3 * j : 3 * j + 3]
        expected = FULL if block.all() else PARTIAL if block.any() else EMPTY
        assert states[i, j] == expected


def test_dilated_lies_together_by_residue():
    """In that order a dilated window is a band."""
    mask = masks.Dilated(2, 3)
    ((queries, keys),) = mask.orders(np.arange(12), 12)
    assert keys.tolist() == [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]
    states = mask.block_states(
        Blocks(queries, np.arange(0, 12, 2)), Blocks(keys, np.arange(0, 12, 2))
    )
    one = [[FULL, PARTIAL], [PARTIAL, FULL]]
    np.testing.assert_array_equal(states, np.kron(np.eye(3, dtype=int), one))


def test_dilated_counts_as_local_does():
    seen = dense(masks.Causal() & masks.Dilated(3, 4), 40, 40)[-1]
    assert np.flatnonzero(seen).tolist() == [31, 35, 39]


@keras.saving.register_keras_serializable(package="tests")
def every_third(query, key):
    return (query - key) % 3 == 0


def test_a_registered_predicate_stands_in_a_config():
    mask = masks.Predicate(every_third) & masks.Causal()
    assert mask.serializable
    again = masks.position_mask(masks.serialize(mask))
    assert again == mask
    assert repr(again) == "(Predicate(every_third) & Causal())"
    unregistered = masks.Predicate(lambda query, key: key <= query)
    assert not unregistered.serializable


def test_a_predicate_is_asked_about_a_plan_once():
    asked = []

    def function(query, key):
        asked.append((query, key))
        return (query - key) % 3 < 2

    mask = masks.Predicate(function)
    union = mask | masks.Global(2)
    for _ in range(2):
        union.block_states(side_by_side(np.full(4, 4)), side_by_side(np.full(4, 4)))
    assert len(asked) == 4  # once for each block of queries


def test_a_predicate_may_be_any_callable():
    mask = masks.Predicate(functools.partial(lambda n, i, j: (i - j) % n == 0, 3))
    assert not mask.serializable
    assert "functools.partial" in repr(mask)
    np.testing.assert_array_equal(dense(mask), dense(masks.Dilated(None, 3)))
    assert dense(masks.Predicate(lambda i, j: True)).all()


@pytest.mark.parametrize(
    "make",
    [
        masks.Local,
        masks.Block,
        masks.Prefix,
        masks.Strided,
        masks.Fixed,
        masks.Global,
        lambda x: masks.Dilated(3, x),
        lambda x: masks.RandomBlocks(x, 4, 8),
    ],
)
@pytest.mark.parametrize("size", [0, -1, 2.0, True, None])
def test_sizes_are_positive_integers(make, size):
    with pytest.raises(ValueError, match="must be a positive integer"):
        make(size)
