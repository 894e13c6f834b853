"""The plan of tiles: every row once, every allowed pair visited, little else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.ops import masks, tiling
from tests.keras_attention.ops.masks.cases import (
    dense,
    position_masks,
    visited_share,
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Key blocks of 4, so that plans of a few dozen positions have structure."""
    monkeypatch.setattr(tiling, "KEY_BLOCK", 4)


def blocks_of(work, query_length, key_length):
    """Rows and columns of every tile of a pass, and whether it is masked."""
    queries, keys = work.order
    queries = np.arange(query_length) if queries is None else queries
    keys = np.arange(key_length) if keys is None else keys
    seen = []
    for segment in work.segments:
        starts = segment.starts
        starts = np.zeros(segment.tiles, int) if starts is None else starts
        for tile, start in enumerate(starts):
            first = segment.first_row + tile * segment.rows
            assert 0 <= start <= start + segment.width <= len(keys)
            seen += range(first, first + segment.rows)
            columns = keys[start : start + segment.width]
            yield np.ix_(queries[first : first + segment.rows], columns), segment.masked
    assert seen == list(range(len(queries)))


@settings(max_examples=100, deadline=None)
@given(
    st.none() | position_masks,
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 16),
    st.integers(-20, 20),
    st.booleans(),
)
def test_plans_compute_each_allowed_score_once(
    mask, query_length, key_length, rows, offset, apart
):
    """Over all passes, whatever order they take."""
    lengths = query_length, key_length
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiling, "PASS_COST", -(10**6) if apart else 10**6)
        plan = tiling.passes(*lengths, min(rows, query_length), mask, offset)
    computed = np.zeros(lengths, int)
    for work in plan:
        own = np.ones(lengths, bool)
        if work.mask is not None:
            own = dense(work.mask, *lengths, offset)
        for block, masked in blocks_of(work, *lengths):
            computed[block] += own[block]
            assert masked or own[block].all()
    allowed = np.ones(lengths, bool) if mask is None else dense(mask, *lengths, offset)
    np.testing.assert_array_equal(computed, allowed)


def test_causal_visits_little_more_than_half():
    assert visited_share(masks.Causal(), 4096) < 0.57


def test_local_visits_the_band_only():
    """A band of 127 keys over tiles of 128 rows and blocks of 4."""
    local = masks.Local(64)
    share = visited_share(local, 4096)
    assert share < (tiling.TILE_ROWS + 127 + 8) / 4096
    half = visited_share(masks.Causal() & local, 4096)
    assert half < (tiling.TILE_ROWS + 64 + 8) / 4096


def test_documents_visit_no_more_than_a_window_beside_them():
    documents = masks.Documents(np.arange(4096)[None] // 60)
    local = masks.Causal() & masks.Local(64)
    assert visited_share(local & documents, 4096) == visited_share(local, 4096)
    assert visited_share(documents, 4096) == 1


def test_no_mask_is_one_segment_without_masking():
    (work,) = tiling.passes(32, 48, 8, None, 16)
    (segment,) = work.segments
    assert segment == tiling.Segment(0, 8, 4, 48, None, masked=False)


def test_number_of_segments_is_bounded():
    (work,) = tiling.passes(4096, 4096, 16, masks.Causal(), 0)
    assert len(work.segments) <= tiling.MAX_SEGMENTS
    (with_rest,) = tiling.passes(4099, 4099, 16, masks.Causal(), 0)
    assert len(with_rest.segments) <= tiling.MAX_SEGMENTS + 1


def test_few_tiles_are_a_segment_each():
    (work,) = tiling.passes(256, 256, 16, masks.Causal(), 0)
    assert [segment.tiles for segment in work.segments] == [1] * 16
    assert work.visited == sum(16 * keys for keys in range(16, 257, 16))


def test_a_union_takes_a_pass_for_each_term_where_that_spares_work():
    union = masks.Global(16) | masks.Local(64)
    assert len(tiling.passes(4096, 4096, 128, union, 0)) == 3
    assert len(tiling.passes(64, 64, 64, union, 0)) == 1
    assert len(tiling.passes(4096, 4096, 128, masks.Causal() | masks.Local(9), 0)) == 1


def test_too_many_terms_are_one_pass(monkeypatch):
    monkeypatch.setattr(tiling, "MAX_PASSES", 2)
    union = masks.Global(16) | masks.Local(64)
    assert len(tiling.passes(4096, 4096, 128, union, 0)) == 1


def test_what_no_query_attends_is_not_visited():
    """Tiles without a key stand in a segment of width 0."""
    (work,) = tiling.passes(64, 64, 16, masks.Prefix(4) & ~masks.Prefix(64), 0)
    assert [segment.width for segment in work.segments] == [0]
    assert work.visited == 0


def test_runs_join_where_that_adds_least(monkeypatch):
    monkeypatch.setattr(tiling, "MAX_SEGMENTS", 2)
    monkeypatch.setattr(tiling, "MAX_UNROLLED", 6)
    widths = np.array([10, 10, 9, 1, 1, 1, 2])
    assert tiling._runs(widths) == [(0, 3), (3, 7)]


@pytest.mark.parametrize("per_logit", [1, 64])
@pytest.mark.parametrize("key_length", [3, 1000, 16384, 200_000])
@pytest.mark.parametrize("num_heads", [1, 6, 8])
def test_tiles_stay_within_their_size(num_heads, key_length, per_logit, monkeypatch):
    monkeypatch.setattr(tiling, "KEY_BLOCK", 128)
    (work,) = tiling.plan(4096, key_length, None, 0, per_logit)
    one = work.widest * per_logit
    batch_rows, heads = tiling.shared_by(12, num_heads, one)
    assert num_heads % heads == 12 % batch_rows == 0
    assert batch_rows == 1 or heads == num_heads
    smallest = tiling.FEWEST_ROWS * key_length * per_logit
    assert batch_rows * heads * one <= max(tiling.TILE_ELEMENTS, smallest)


def test_tiles_are_as_tall_as_what_they_see_allows(monkeypatch):
    """Not as the length would: a window sees as few keys at any length."""
    monkeypatch.setattr(tiling, "KEY_BLOCK", 128)
    for mask, rows in ((masks.Causal(), 32), (masks.Local(256), tiling.TILE_ROWS)):
        (work,) = tiling.plan(2**16, 2**16, mask, 0)
        assert {segment.rows for segment in work.segments} == {rows}


def test_tiles_are_no_taller_than_the_query():
    (work,) = tiling.plan(5, 7, None, 2)
    assert [segment.rows for segment in work.segments] == [5]


def test_short_sequences_share_a_tile():
    assert tiling.shared_by(12, 4, 128 * 256) == (4, 4)
    assert tiling.shared_by(12, 4, 128 * 1024) == (1, 4)
    assert tiling.shared_by(object(), 4, 128 * 256) == (1, 4)
    assert tiling.shared_by(12, 4, 0) == (12, 4)  # a mask that leaves nothing


def test_unknown_key_length_counts_as_a_middling_one():
    (unknown,) = tiling.plan(128, object(), None, 0)
    assert unknown.widest == 128 * tiling.UNKNOWN_KEYS


def test_a_reading_finds_every_key_of_every_tile(monkeypatch):
    """Summing ones by it counts how many tiles see a key."""
    monkeypatch.setattr(tiling, "KEY_BLOCK", 4)
    starts, width, key_length = np.array([0, 4, 8, 8, 20]), 8, 28
    reading = tiling._reading(starts, 4, width, key_length)
    assert reading.run == 4
    places = reading.table[reading.table >= 0]
    assert sorted(places) == list(range(len(starts) * width // 4))
    expected = np.zeros(key_length, int)
    for start in starts:
        expected[start : start + width] += 1
    found = np.repeat((reading.table >= 0).sum(axis=0), reading.run)
    np.testing.assert_array_equal(found, expected)


def test_wide_or_crowded_tiles_have_no_reading(monkeypatch):
    starts = np.arange(0, 640, 16)
    assert tiling._reading(starts, 16, 32, 1000) is not None
    assert tiling._reading(starts, 16, 200, 1000) is None
    assert tiling._reading(np.zeros(9, int), 16, 32, 1000) is None
    monkeypatch.setattr(tiling, "MAX_READERS", 1)
    assert tiling._reading(starts, 16, 32, 1000) is None
