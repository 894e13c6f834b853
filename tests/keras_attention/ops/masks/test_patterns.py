"""Sparse patterns: what they are made of, and how few scores a plan visits."""

import numpy as np
import pytest

from keras_attention import masks
from tests.keras_attention.ops.masks.cases import dense, visited_share

CAUSAL = masks.Causal()


def test_strided_is_that_of_the_paper():
    """Row 9 with stride 4: the last four positions and 5, 1."""
    seen = dense(CAUSAL & masks.Strided(4), 12, 12)[9]
    assert np.flatnonzero(seen).tolist() == [1, 5, 6, 7, 8, 9]


def test_fixed_is_that_of_the_paper():
    """Row 9 with blocks of 4 and one summary: its block and 3, 7."""
    seen = dense(CAUSAL & masks.Fixed(4), 12, 12)[9]
    assert np.flatnonzero(seen).tolist() == [3, 7, 8, 9]
    with pytest.raises(ValueError, match="`summary` must not exceed `block_size`"):
        masks.Fixed(4, 5)


def test_global_sees_and_is_seen():
    found = dense(masks.Global(2), 6, 6)
    assert found[:2].all()
    assert found[:, :2].all()
    assert not found[2:, 2:].any()


def test_random_blocks_follow_their_seed():
    first, same, other = (
        dense(masks.RandomBlocks(2, 4, 64, seed), 64, 64) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    assert (first.sum(1) == 8).all()  # two different blocks of four
    with pytest.raises(ValueError, match="must not exceed the blocks of `max_length`"):
        masks.RandomBlocks(5, 4, 16)


def test_big_bird_is_window_global_and_random():
    mask = masks.BigBird(3, 2, 1, 4, 32, seed=5)
    parts = masks.Local(3), masks.Global(2), masks.RandomBlocks(1, 4, 32, 5)
    expected = np.logical_or.reduce([dense(part, 32, 32) for part in parts])
    np.testing.assert_array_equal(dense(mask, 32, 32), expected)


# The most keys a query may visit: the docstring's claim and what tiles of 128 rows and
# blocks of 128 keys add.
CLAIMS = [
    (CAUSAL & masks.Strided(128), lambda n: 128 + n / 128 + 256),
    (CAUSAL & masks.Fixed(128, 8), lambda n: 128 + 8 * n / 128 / 2 + 256),
    (CAUSAL & masks.Dilated(256, 8), lambda n: 256 + 256),
    (masks.Block(256), lambda n: 256),
    (masks.Global(16) | CAUSAL & masks.Local(256), lambda n: 256 + 2 * 128 + 256),
    (masks.BigBird(192, 64, 3, 64, 16384), lambda n: 384 + 3 * 128 + 2 * 128 + 256),
]


@pytest.mark.parametrize(("mask", "most"), CLAIMS, ids=lambda x: repr(x)[:40])
@pytest.mark.parametrize("length", [4096, 16384])
def test_the_plan_visits_what_the_docstring_claims(mask, most, length):
    share = visited_share(mask, length)
    assert share * length <= most(length)
