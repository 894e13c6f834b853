"""The plan of tiles: every row once, every allowed pair visited, little else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.ops import masks, tiling
from tests.backend import to_numpy
from tests.keras_attention.ops.test_masks import position_masks


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Key blocks of 4, so that plans of a few dozen positions have structure."""
    monkeypatch.setattr(tiling, "KEY_BLOCK", 4)


def tiles(segment):
    """First row, number of rows, first key and number of keys of each tile."""
    starts = np.zeros(segment.tiles, int) if segment.starts is None else segment.starts
    for tile, start in enumerate(starts):
        first = segment.first_row + tile * segment.rows
        yield first, segment.rows, int(start), segment.width


@settings(max_examples=60, deadline=None)
@given(
    st.none() | position_masks,
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 16),
    st.integers(-20, 20),
)
def test_plans_visit_what_the_mask_allows(mask, query_length, key_length, rows, offset):
    rows = min(rows, query_length)
    allowed = np.ones((query_length, key_length), bool)
    if mask is not None:
        allowed = to_numpy(mask.dense(query_length, key_length, offset))[0, 0]
    visits = np.zeros((query_length, key_length), int)
    rows_seen = []
    for segment in tiling.segments(query_length, key_length, rows, mask, offset):
        for first, height, start, width in tiles(segment):
            assert 0 <= start <= start + width <= key_length
            block = np.s_[first : first + height, start : start + width]
            visits[block] += 1
            rows_seen += range(first, first + height)
            if not segment.masked:
                assert allowed[block].all()
    assert rows_seen == list(range(query_length))
    assert (visits <= 1).all()
    assert (visits[allowed] == 1).all()


def test_causal_visits_little_more_than_half():
    assert tiling.visited_share(4096, 4096, masks.Causal(), 0) < 0.57


def test_local_visits_the_band_only():
    """A band of 127 keys over tiles of 128 rows and blocks of 4."""
    local = masks.Local(64)
    share = tiling.visited_share(4096, 4096, local, 0)
    assert share < (tiling.TILE_ROWS + 127 + 8) / 4096
    half = tiling.visited_share(4096, 4096, masks.Causal() & local, 0)
    assert half < (tiling.TILE_ROWS + 64 + 8) / 4096


def test_no_mask_is_one_segment_without_masking():
    (segment,) = tiling.segments(32, 48, 8, None, 16)
    assert segment == tiling.Segment(0, 8, 4, 48, None, masked=False)


def test_number_of_segments_is_bounded():
    plan = tiling.segments(4096, 4096, 16, masks.Causal(), 0)
    assert len(plan) <= tiling.MAX_SEGMENTS
    with_rest = tiling.segments(4099, 4099, 16, masks.Causal(), 0)
    assert len(with_rest) <= tiling.MAX_SEGMENTS + 1


@pytest.mark.parametrize("per_logit", [1, 64])
@pytest.mark.parametrize("key_length", [3, 1000, 16384, 200_000])
@pytest.mark.parametrize("num_heads", [1, 6, 8])
def test_tiles_stay_within_their_size(num_heads, key_length, per_logit):
    heads, rows = tiling.tile_shape(num_heads, 4096, key_length, per_logit)
    assert num_heads % heads == 0
    size = heads * rows * key_length * per_logit
    smallest = 8 * key_length * per_logit
    assert size <= max(tiling.TILE_ELEMENTS, smallest)


def test_tiles_are_no_taller_than_the_query():
    assert tiling.tile_shape(4, 5, 7, 1) == (4, 5)


def test_unknown_key_length_counts_as_a_middling_one():
    unknown = tiling.tile_shape(8, 128, object(), 1)
    assert unknown == tiling.tile_shape(8, 128, tiling.UNKNOWN_KEYS, 1)
