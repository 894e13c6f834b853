"""Masks to draw from, what they mean, and how to see them whole."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from keras_attention.ops import masks, tiling
from tests.backend import to_numpy

B, N, T, S = 2, 3, 5, 7

# No deadline: the first example of a run compiles.
quick = settings(max_examples=50, deadline=None)

small = st.integers(1, 12)
leaves = st.one_of(
    st.just(masks.Causal()),
    st.builds(masks.Local, small),
    st.builds(masks.Dilated, st.none() | st.integers(1, 4), st.integers(1, 5)),
    st.builds(masks.Block, small),
    st.builds(masks.Prefix, small),
    st.builds(masks.Strided, st.integers(1, 6)),
    st.builds(masks.Fixed, st.integers(2, 6), st.integers(1, 2)),
    st.builds(masks.Global, st.integers(1, 4)),
    st.builds(masks.RandomBlocks, st.integers(1, 2), st.integers(1, 4), st.just(24)),
)
position_masks = st.recursive(
    leaves,
    lambda inner: (
        st.builds(masks.And, inner, inner)
        | st.builds(masks.Or, inner, inner)
        | st.builds(masks.Not, inner)
    ),
    max_leaves=4,
)


def dense(mask, query_length=T, key_length=S, offset=None):
    """The dense mask of all rows as an array without batch and heads."""
    found = to_numpy(mask.dense(query_length, key_length, offset))[0, 0]
    return found + np.zeros((query_length, key_length), bool)


def side_by_side(lengths, start=0):
    """Blocks of the given lengths, one after the other."""
    ends = np.cumsum(lengths)
    return masks.Blocks(np.arange(start, start + ends[-1]), ends - lengths)


def visited_share(mask, length):
    """Share of the scores that the plan for equal lengths computes."""
    plan = tiling.passes(length, length, tiling.TILE_ROWS, mask, 0)
    return sum(work.visited for work in plan) / length**2


def by_hand(mask, i, j):
    """Whether position `i` may attend `j`, from the definitions."""
    return _MEANING[type(mask)](mask, i, j)


def _drawn(mask, i, j):
    drawn = [part.drawn() for part in mask.parts()]
    block = np.clip(i // mask.block_size, 0, len(drawn[0]) - 1)
    return j // mask.block_size in [blocks[block] for blocks in drawn]


_MEANING = {
    masks.And: lambda m, i, j: by_hand(m.left, i, j) and by_hand(m.right, i, j),
    masks.Or: lambda m, i, j: by_hand(m.left, i, j) or by_hand(m.right, i, j),
    masks.Not: lambda m, i, j: not by_hand(m.mask, i, j),
    masks.Causal: lambda m, i, j: j <= i,
    masks.Local: lambda m, i, j: abs(i - j) < m.window,
    masks.Dilated: lambda m, i, j: (
        (i - j) % m.rate == 0 and (not m.window or abs(i - j) < m.window * m.rate)
    ),
    masks.Block: lambda m, i, j: i // m.size == j // m.size,
    masks.Prefix: lambda m, i, j: j < m.length,
    masks.Strided: lambda m, i, j: abs(i - j) < m.stride or (i - j) % m.stride == 0,
    masks.Fixed: lambda m, i, j: (
        i // m.block_size == j // m.block_size
        or j % m.block_size >= m.block_size - m.summary
    ),
    masks.Global: lambda m, i, j: i < m.tokens or j < m.tokens,
    masks.RandomBlocks: _drawn,
}
