"""How the blockwise engine cuts the scores: plain shape arithmetic, no tensors.

A *segment* is a run of equally tall query tiles that visit equally many keys. A causal
mask at 16,384 positions gives eight segments with key prefixes of growing width; a
local window gives one segment whose tiles start at different keys.

A *pass* is a plan for one mask in one order of the sequence. Most masks take one pass;
a union such as `Local(64) | Global(4)` takes one for each of its terms, where that
visits fewer scores, and the engine merges their softmaxes.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from keras_attention.ops import _backend
from keras_attention.ops.masks import EMPTY, FULL, Blocks, Mask, Order

Size = Any  # a Python int where it is known, else an integer scalar tensor

# Logits of one tile (times H for pairwise scores): 8 MB in float32, as large as a tile
# may get and still stay near the cores' caches.
TILE_ELEMENTS = 2**21
SHARED_ELEMENTS = 2**19  # the same for a tile of several batch rows
TILE_ROWS = 128
FEWEST_ROWS = 8  # of a tile that would be too large with more
UNKNOWN_KEYS = 4096  # what a key length unknown before run time is taken for
KEY_BLOCK = 128
MAX_SEGMENTS = 8
# Tiles that are a segment each: no loop, and no key too many. Of one group TensorFlow
# keeps the scores instead of computing them again, at most 16 * TILE_ELEMENTS.
MAX_UNROLLED = 16
NARROW = 8  # keys of a tile to its rows, up to which it is narrow
MAX_READERS = 16  # tiles that see one key, in a segment of narrow tiles
MAX_PASSES = 12
# What a plan costs beside its scores, in scores of one batch row and head.
PASS_COST = 128  # to merge one more pass, for each query
TILE_COST = 6_000  # to start a tile


@dataclass(frozen=True)
class Segment:
    """Query tiles of the same height that visit the same number of keys.

    Attributes:
        first_row: Index of the first query.
        rows: Queries of one tile.
        tiles: Number of tiles.
        width: Keys each tile visits; 0 where a mask leaves nothing.
        starts: `(tiles,)` first key of each tile, or `None` for 0 everywhere.
        masked: Whether the mask must be applied (a `FULL` segment needs none).
        reading: Where tiles start apart and see few keys each: who sees what.
    """

    first_row: Size
    rows: Size
    tiles: Size
    width: Size
    starts: np.ndarray | None
    masked: bool
    reading: "Reading | None" = None

    @property
    def is_empty(self) -> bool:
        """Whether its tiles see no key."""
        return _backend.is_static(self.width) and self.width == 0


class Reading(NamedTuple):
    """Which tiles of a segment see a run of keys.

    Attributes:
        run: Keys of a run.
        table: `(readers, runs)`, the place of each reading among all runs of all tiles,
            one after the other; -1 for none.
    """

    run: int
    table: np.ndarray


class Pass(NamedTuple):
    """The scores of one mask, in one order of the sequence.

    Attributes:
        mask: What this pass computes; no other pass computes any of it.
        order: Of rows and columns.
        segments: They cover every row of `order`.
    """

    mask: Mask | None
    order: Order
    segments: list[Segment]

    @property
    def visited(self) -> int:
        """Scores the tiles compute, for one batch row and head."""
        return sum(s.tiles * s.rows * s.width for s in self.segments)

    @property
    def widest(self) -> int:
        """Scores of its largest tile, for one batch row and head."""
        return max(
            s.rows * (s.width if _backend.is_static(s.width) else UNKNOWN_KEYS)
            for s in self.segments
            if _backend.is_static(s.rows)
        )


def plan(
    query_length: Size,
    key_length: Size,
    mask: Mask | None,
    offset: Size,
    per_logit: int = 1,
) -> list[Pass]:
    """The passes whose tiles have `TILE_ROWS` rows, or fewer to fit `TILE_ELEMENTS`."""
    rows = TILE_ROWS
    if _backend.is_static(query_length):
        rows = min(rows, query_length)
    while True:
        found = passes(query_length, key_length, rows, mask, offset)
        largest = max(each.widest for each in found) * per_logit
        if rows <= FEWEST_ROWS or largest <= TILE_ELEMENTS:
            return found
        rows = max(rows // 2, FEWEST_ROWS)


def shared_by(batch: Size, num_heads: int, elements: int) -> tuple[int, int]:
    """Batch rows and heads of one tile, which for one of each has `elements`.

    As many heads as fit; where all do, as many batch rows.
    """
    elements = max(elements, 1)
    heads = _largest_divisor(num_heads, TILE_ELEMENTS // elements)
    if heads < num_heads or not _backend.is_static(batch):
        return 1, heads
    shared = min(TILE_ELEMENTS, SHARED_ELEMENTS)
    return _largest_divisor(batch, shared // (elements * heads)), heads


def _largest_divisor(number: int, most: int) -> int:
    return max(n for n in range(1, number + 1) if number % n == 0 and n <= max(most, 1))


def passes(
    query_length: Size, key_length: Size, rows: int, mask: Mask | None, offset: Size
) -> list[Pass]:
    """What to compute so that every score a mask allows is computed once."""
    lengths = query_length, key_length
    if mask is None or not _backend.is_static(*lengths, offset):
        segments = _whole(query_length, key_length, rows, mask is not None)
        return [Pass(mask, Order(), segments)]
    terms = mask.terms()
    if len(terms) == 1:
        return _apart(terms, *lengths, rows, offset)
    whole = _planned(mask, Order(), *lengths, rows, offset)
    if len(terms) > MAX_PASSES:
        return [whole]
    found = _apart(terms, *lengths, rows, offset)
    return min([whole], found, key=lambda each: _cost(each, query_length))


def cost_share(
    query_length: int, key_length: int, mask: Mask | None, offset: Size
) -> float:
    """What the tiles cost, as a share of all scores."""
    found = plan(query_length, key_length, mask, offset)
    return _cost(found, query_length) / (query_length * key_length)


def _cost(found: list[Pass], query_length: int) -> int:
    tiles = sum(segment.tiles for each in found for segment in each.segments)
    scores = sum(each.visited for each in found)
    return scores + TILE_COST * tiles + PASS_COST * query_length * (len(found) - 1)


def _whole(
    query_length: Size, key_length: Size, rows: int, masked: bool
) -> list[Segment]:
    """Every score, where the lengths are not known or nothing can be skipped."""
    tiles, rest = query_length // rows, query_length % rows
    segments = [Segment(0, rows, tiles, key_length, None, masked)]
    if not (_backend.is_static(rest) and rest == 0):
        segments.append(Segment(tiles * rows, rest, 1, key_length, None, masked))
    return [s for s in segments if not (_backend.is_static(s.tiles) and s.tiles == 0)]


def _apart(
    terms: list[Mask], query_length: int, key_length: int, rows: int, offset: int
) -> list[Pass]:
    """A pass for each term less what the terms before it allow, in its best order."""
    positions = np.arange(query_length) + offset
    found: list[Pass] = []
    before: Mask | None = None
    for term in terms:
        mask = term if before is None else term & ~before
        before = term if before is None else before | term
        candidates = [
            _planned(mask, order, query_length, key_length, rows, offset)
            for order in (Order(), *mask.orders(positions, key_length))
        ]
        best = min(candidates, key=lambda candidate: candidate.visited)
        if best.visited or not found:
            found.append(best)
    return found


def _planned(
    mask: Mask, order: Order, query_length: int, key_length: int, rows: int, offset: int
) -> Pass:
    queries = np.arange(query_length) if order.queries is None else order.queries
    keys = np.arange(key_length) if order.keys is None else order.keys
    if not len(keys):
        return Pass(mask, order, [Segment(0, len(queries), 1, 0, None, False)])
    rows = min(mask.tile_rows(rows), len(queries))
    tiles, rest = divmod(len(queries), rows)
    segments = []
    for first_row, height, count in ((0, rows, tiles), (tiles * rows, rest, 1)):
        if height and count:
            covered = queries[first_row : first_row + height * count] + offset
            segments += _segments(mask, first_row, height, covered, keys)
    return Pass(mask, order, segments)


def _segments(
    mask: Mask,
    first_row: int,
    rows: int,
    query_positions: np.ndarray,
    key_positions: np.ndarray,
) -> list[Segment]:
    spans = _spans(mask, rows, query_positions, key_positions)
    planned = []
    for begin, end in _runs(spans.width):
        group = slice(begin, end)
        width = int(spans.width[group].max())
        key_length = len(key_positions)
        starts = np.minimum(spans.start[group], key_length - width)
        exact = (starts == spans.start[group]) & (spans.width[group] == width)
        planned.append(
            Segment(
                first_row + rows * begin,
                rows,
                end - begin,
                width,
                starts if starts.any() else None,
                masked=not (exact & spans.full[group]).all(),
                reading=_reading(starts, rows, width, key_length),
            )
        )
    return planned


def _reading(
    starts: np.ndarray, rows: int, width: int, key_length: int
) -> Reading | None:
    """Of a segment whose tiles are narrow and start apart, else `None`."""
    if not starts.any() or not 0 < width <= NARROW * rows:
        return None
    run = math.gcd(KEY_BLOCK, width, key_length, *map(int, starts))
    read = (starts[:, None] + np.arange(0, width, run)).reshape(-1) // run
    order = np.argsort(read, kind="stable")
    runs, first, count = np.unique(read[order], return_index=True, return_counts=True)
    if count.max() > MAX_READERS:
        return None
    table = np.full((count.max(), key_length // run), -1)
    turn = np.arange(len(order)) - np.repeat(first, count)
    table[turn, np.repeat(runs, count)] = order
    return Reading(run, table)


class _Spans(NamedTuple):
    """First key, number of keys and fullness of what each query tile must visit."""

    start: np.ndarray
    width: np.ndarray
    full: np.ndarray


def _spans(
    mask: Mask, rows: int, query_positions: np.ndarray, key_positions: np.ndarray
) -> _Spans:
    queries = Blocks(query_positions, np.arange(0, len(query_positions), rows))
    first_key = np.arange(0, len(key_positions), KEY_BLOCK)
    last_key = np.minimum(first_key + KEY_BLOCK, len(key_positions)) - 1
    states = mask.block_states(queries, Blocks(key_positions, first_key))
    visited = states != EMPTY
    begin = visited.argmax(axis=1)
    end = visited.shape[1] - visited[:, ::-1].argmax(axis=1)
    nothing = ~visited.any(axis=1)
    width = np.where(nothing, 0, last_key[end - 1] + 1 - first_key[begin])
    index = np.arange(len(first_key))
    inside = (index >= begin[:, None]) & (index < end[:, None])
    full = (~inside | (states == FULL)).all(axis=1)
    return _Spans(np.where(nothing, 0, first_key[begin]), width, full)


def _runs(widths: np.ndarray) -> list[tuple[int, int]]:
    """Neighbouring tiles that visit about equally many keys, as few runs as allowed.

    Runs of equal width are joined where that adds the fewest scores.
    """
    allowed = MAX_UNROLLED if len(widths) <= MAX_UNROLLED else MAX_SEGMENTS
    starts = [0, *(np.flatnonzero(np.diff(widths)) + 1)]
    bounds = [*starts, len(widths)]
    while len(bounds) - 1 > allowed:
        largest = np.maximum.reduceat(widths, bounds[:-1])
        sizes = np.diff(bounds)
        # Joining raises the lower of two neighbours to the higher.
        rise = np.diff(largest)
        added = np.where(rise > 0, sizes[:-1] * rise, -sizes[1:] * rise)
        del bounds[int(added.argmin()) + 1]
    return [(int(a), int(b)) for a, b in itertools.pairwise(bounds)]
