"""How the blockwise engine cuts the scores: plain shape arithmetic, no tensors.

A *segment* is a run of equally tall query tiles that visit equally many keys. A causal
mask at 16,384 positions gives eight segments with key prefixes of growing width; a
local window gives one segment whose tiles start at different keys.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from keras_attention.ops import _backend
from keras_attention.ops.masks import EMPTY, FULL, Mask

Size = Any  # a Python int where it is known, else an integer scalar tensor

# Logits of one tile (times H for pairwise scores): 8 MB in float32, as large as a tile
# may get and still stay near the cores' caches.
TILE_ELEMENTS = 2**21
TILE_ROWS = 128
UNKNOWN_KEYS = 4096  # what a key length unknown before run time is taken for
KEY_BLOCK = 128
MAX_SEGMENTS = 8


@dataclass(frozen=True)
class Segment:
    """Query tiles of the same height that visit the same number of keys.

    Attributes:
        first_row: Index of the first query.
        rows: Queries of one tile.
        tiles: Number of tiles.
        width: Keys each tile visits.
        starts: `(tiles,)` first key of each tile, or `None` for 0 everywhere.
        masked: Whether the mask must be applied (a `FULL` segment needs none).
    """

    first_row: Size
    rows: Size
    tiles: Size
    width: Size
    starts: np.ndarray | None
    masked: bool


def tile_shape(
    num_heads: int, query_length: Size, key_length: Size, per_logit: int
) -> tuple[int, int]:
    """Heads and query rows of one tile.

    All heads and `TILE_ROWS` rows if that fits `TILE_ELEMENTS`, else fewer heads, then
    fewer rows.
    """
    known_keys = key_length if _backend.is_static(key_length) else UNKNOWN_KEYS
    rows = TILE_ROWS
    while rows > 8 and rows * known_keys * per_logit > TILE_ELEMENTS:
        rows //= 2
    room = max(TILE_ELEMENTS // (rows * known_keys * per_logit), 1)
    heads = max(n for n in range(1, num_heads + 1) if num_heads % n == 0 and n <= room)
    if _backend.is_static(query_length):
        rows = min(rows, query_length)
    return heads, rows


def segments(
    query_length: Size, key_length: Size, rows: int, mask: Mask | None, offset: Size
) -> list[Segment]:
    """The segments that cover every query row and skip what the mask never allows."""
    tiles, rest = query_length // rows, query_length % rows
    if not _backend.is_static(query_length, key_length, offset):
        masked = mask is not None
        whole = [Segment(0, rows, tiles, key_length, None, masked)]
        if _backend.is_static(rest) and rest == 0:
            return whole
        return [*whole, Segment(tiles * rows, rest, 1, key_length, None, masked)]
    planned = _planned(0, rows, tiles, key_length, mask, offset)
    if rest:
        planned += _planned(tiles * rows, rest, 1, key_length, mask, offset)
    return planned


def visited_share(
    query_length: int, key_length: int, mask: Mask | None, offset: Size
) -> float:
    """Share of the scores that tiles of `TILE_ROWS` rows do not skip."""
    rows = min(TILE_ROWS, query_length)
    plan = segments(query_length, key_length, rows, mask, offset)
    visited = sum(s.tiles * s.rows * s.width for s in plan)
    return visited / (query_length * key_length)


def _planned(
    first_row: int,
    rows: int,
    tiles: int,
    key_length: int,
    mask: Mask | None,
    offset: int,
) -> list[Segment]:
    if mask is None or not tiles:
        whole = Segment(first_row, rows, tiles, key_length, None, False)
        return [whole] if tiles else []
    starts, widths, full = _spans(first_row, rows, tiles, key_length, mask, offset)
    planned = []
    groups = np.array_split(np.arange(tiles), min(tiles, MAX_SEGMENTS))
    for group in _joined(groups, widths):
        width = int(widths[group].max())
        begin = np.minimum(starts[group], key_length - width)
        exact = (begin == starts[group]).all() and (widths[group] == width).all()
        planned.append(
            Segment(
                first_row + rows * int(group[0]),
                rows,
                len(group),
                width,
                begin if begin.any() else None,
                masked=not (exact and full[group].all()),
            )
        )
    return planned


def _spans(first_row, rows, tiles, key_length, mask, offset):
    """First key, number of keys and fullness of what each query tile must visit."""
    first = first_row + offset + rows * np.arange(tiles)
    queries = np.stack([first, first + rows - 1], axis=1)
    first_key = np.arange(0, key_length, KEY_BLOCK)
    last_key = np.minimum(first_key + KEY_BLOCK, key_length) - 1
    states = mask.block_states(queries, np.stack([first_key, last_key], axis=1))
    visited = states != EMPTY
    nothing = ~visited.any(axis=1)
    visited[nothing, 0] = True  # a tile without keys still needs its zero rows
    begin = visited.argmax(axis=1)
    end = visited.shape[1] - visited[:, ::-1].argmax(axis=1)
    starts = first_key[begin]
    widths = last_key[end - 1] + 1 - starts
    inside = (np.arange(len(first_key)) >= begin[:, None]) & (
        np.arange(len(first_key)) < end[:, None]
    )
    return starts, widths, np.where(inside, states == FULL, True).all(axis=1)


def _joined(groups: list[np.ndarray], widths: np.ndarray) -> list[np.ndarray]:
    """Neighbouring groups that visit equally many keys, joined."""
    joined: list[np.ndarray] = []
    for group in groups:
        if joined and widths[joined[-1]].max() == widths[group].max():
            joined[-1] = np.concatenate([joined[-1], group])
        else:
            joined.append(group)
    return joined
