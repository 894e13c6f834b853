"""Positions as pure functions: encodings, rotations and biases.

Angles are always computed in float32, whatever the dtype of the tensors: in half
precision neighbouring positions share a code from 2,049 (float16) or 257 (bfloat16) on.
"""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.errors import require
from keras_attention.ops import _backend
from keras_attention.ops.problem import promote
from keras_attention.ops.softmax import at_least_float32

Tensor = Any

# ----------------------------------------------------------------- added to the inputs


def sinusoidal_encoding(
    length: Any, width: int, start: Any = 0, max_wavelength: float = 10_000.0
) -> Tensor:
    """Sine and cosine waves of geometrically growing wavelength.

    `PE[p, 2i] = sin(p / w^(2i / D))`, `PE[p, 2i + 1] = cos(p / w^(2i / D))` with
    `w = max_wavelength`.

    Args:
        length: Number of positions; an integer or a scalar tensor.
        width: Feature size `D`; may be odd, the last feature is then a sine.
        start: Position of the first row.
        max_wavelength: Longest wavelength, in positions, divided by 2 pi.

    Returns:
        `(length, width)`, float32.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
    """
    pairs = (width + 1) // 2
    positions = ops.add(ops.arange(length), start)
    angles = _angles(positions, pairs, width, max_wavelength)
    waves = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
    return ops.reshape(waves, (-1, 2 * pairs))[:, :width]


def sinusoidal_encoding_2d(
    rows: Any, columns: Any, width: int, max_wavelength: float = 10_000.0
) -> Tensor:
    """Positions on a grid: half of the features tell the row, half the column.

    Args:
        rows: Number of rows of the grid; an integer or a scalar tensor.
        columns: Number of its columns.
        width: Feature size `D`, an even number.
        max_wavelength: As in `sinusoidal_encoding`.

    Returns:
        `(rows, columns, width)`, float32.

    Raises:
        ValueError: for an odd width.
    """
    require(width % 2 == 0, "The feature size must be even.", width=width)
    halves = [
        sinusoidal_encoding(size, width // 2, max_wavelength=max_wavelength)
        for size in (rows, columns)
    ]
    return _on_grid(*halves)


def _angles(positions: Tensor, pairs: int, width: int, max_wavelength: float) -> Tensor:
    """`p / w^(2i / D)` for the first `pairs` of `i`, along a new last axis."""
    frequencies = max_wavelength ** (-2.0 * np.arange(pairs) / width)
    positions = ops.cast(positions, "float32")[..., None]
    return positions * ops.convert_to_tensor(frequencies, dtype="float32")


def _on_grid(of_rows: Tensor, of_columns: Tensor) -> Tensor:
    """`(rows, F)` and `(columns, F)` as `(rows, columns, 2 F)`."""
    shape = (_backend.sizes(of_rows)[0], _backend.sizes(of_columns)[0])
    width = of_rows.shape[-1]
    grids = [
        ops.broadcast_to(of_rows[:, None], (*shape, width)),
        ops.broadcast_to(of_columns[None], (*shape, width)),
    ]
    return ops.concatenate(grids, axis=-1)


# -------------------------------------------------------------------------- rotations

SCALING_TYPES = ("linear", "ntk")


def rotary_angles(
    positions: Tensor,
    size: int,
    max_wavelength: float = 10_000.0,
    scaling: float = 1.0,
    scaling_type: str = "linear",
) -> Tensor:
    """The angle `p / w^(2i / H)` of each position and each pair of features.

    Args:
        positions: Integers `(..., L)`.
        size: `H`, an even number of features.
        max_wavelength: `w`, the longest wavelength divided by 2 pi.
        scaling: How many times longer the sequences are than those trained on.
        scaling_type: `"linear"` divides positions by `scaling`; `"ntk"` multiplies `w`
            by `scaling^(H / (H - 2))`, which slows the slowest pair as much and the
            fastest not at all.

    Returns:
        `(..., L, H / 2)`, float32.

    Source:
        Su et al. 2021, arXiv:2104.09864, equation 15; linear scaling Chen et al. 2023,
        arXiv:2306.15595; NTK-aware scaling as in Peng et al. 2023, arXiv:2309.00071,
        section 3.1.
    """
    if scaling_type == "ntk":
        max_wavelength = max_wavelength * scaling ** (size / max(size - 2, 1))
        scaling = 1.0
    positions = ops.cast(positions, "float32") / scaling
    return _angles(positions, size // 2, size, max_wavelength)


def rotary_angles_2d(rows: Any, columns: Any, size: int, **options: Any) -> Tensor:
    """Angles on a grid: half of the pairs turn with the row, half with the column.

    Args:
        rows: Number of rows of the grid; an integer or a scalar tensor.
        columns: Number of its columns.
        size: `H`, a multiple of four.
        **options: Those of `rotary_angles`.

    Returns:
        `(rows, columns, H / 2)`, float32.
    """
    halves = [
        rotary_angles(ops.arange(length), size // 2, **options)
        for length in (rows, columns)
    ]
    return _on_grid(*halves)


def rotate(x: Tensor, angles: Tensor, interleaved: bool = False) -> Tensor:
    """Turn pairs of features by angles; in at least float32.

    Args:
        x: `(..., L, N, H)`.
        angles: `(..., L, H / 2)`, the same for all heads.
        interleaved: Whether feature `2i` is paired with `2i + 1`, or `i` with
            `i + H / 2`.

    Returns:
        As `x`; no vector changes its length.
    """
    angles = ops.expand_dims(angles, -2)
    wide = at_least_float32(x)
    cos, sin = (ops.cast(wave(angles), wide.dtype) for wave in (ops.cos, ops.sin))
    if interleaved:
        first, second = wide[..., 0::2], wide[..., 1::2]
    else:
        first, second = ops.split(wide, 2, axis=-1)
    turned = [first * cos - second * sin, second * cos + first * sin]
    if interleaved:
        turned = ops.reshape(ops.stack(turned, axis=-1), _backend.sizes(x))
    else:
        turned = ops.concatenate(turned, axis=-1)
    return ops.cast(turned, x.dtype)


# ------------------------------------------------------------------------------ biases


def relative_positions(
    query_length: Any, key_length: Any, query_offset: Any = None
) -> Tensor:
    """`j - i` for every query position `i` and key position `j`, `(T, S)` int32.

    Args:
        query_length: `T`; an integer or a scalar tensor.
        key_length: `S`.
        query_offset: Position of query 0 among the keys; by default `S - T`.
    """
    if query_offset is None:
        query_offset = key_length - query_length
    queries = ops.add(ops.arange(query_length), ops.cast(query_offset, "int32"))
    return ops.arange(key_length)[None, :] - queries[:, None]


def alibi_slopes(num_heads: int) -> list[float]:
    """The slope of each head: `2^(-8 n / N)` for `n` from 1 to `N`.

    Where `N` is no power of two, those of the next lower power and then every second
    one of the next higher power, as in the paper's code.

    Source:
        Press et al. 2022, arXiv:2108.12409, section 3.
    """
    lower = 2 ** int(math.log2(num_heads))
    slopes = [2.0 ** (-8 * n / lower) for n in range(1, lower + 1)]
    between = [2.0 ** (-4 * n / lower) for n in range(1, 2 * lower + 1, 2)]
    return slopes + between[: num_heads - lower]


def relative_buckets(
    relative: Tensor, num_buckets: int, max_distance: int, bidirectional: bool = True
) -> Tensor:
    """The bucket of each relative position `j - i`, in T5's order.

    Half of the buckets of a direction hold one distance each, the others ranges that
    grow geometrically up to `max_distance`; the last holds all beyond. Bidirectional,
    keys after the query have the second half of the buckets; else they share bucket 0.

    Args:
        relative: Integers.
        num_buckets: Number of buckets.
        max_distance: Distance from which on all share a bucket.
        bidirectional: Whether keys after the query are told apart.

    Returns:
        Integers of the shape of `relative`.

    Source:
        Raffel et al. 2020, arXiv:1910.10683, section 2.1. Borders are rounded from
        float64 and so the same on every backend.
    """
    buckets = num_buckets // 2 if bidirectional else num_buckets
    exact = buckets // 2
    distances = np.arange(1, max_distance + 1)
    share = np.log(distances / exact) / np.log(max_distance / exact)
    ranges = exact + (share * (buckets - exact) + 1e-9).astype("int32")
    found = np.where(distances < exact, distances, np.minimum(ranges, buckets - 1))
    lookup = ops.convert_to_tensor(np.concatenate([[0], found]), dtype="int32")
    distance = ops.abs(relative) if bidirectional else ops.maximum(-relative, 0)
    bucket = ops.take(lookup, ops.minimum(distance, max_distance), axis=0)
    if not bidirectional:
        return bucket
    return bucket + ops.cast(relative > 0, "int32") * buckets


def relative_key_logits(
    query: Tensor, table: Tensor, key_length: Any, query_offset: Any = None
) -> Tensor:
    """`q_i . a_(j - i) / sqrt(H)`: how well a query matches the places of the keys.

    Every query meets the `R` rows of the table once, and the logits are gathered from
    that: time `O(B N T (R H + S))`, memory `O(B N T (R + S))`.

    Args:
        query: Projected queries `(B, T, N, H)`.
        table: `(R, H)` with `R = 2 k + 1`: vectors of the distances `-k` to `k`;
            distances beyond take the first or the last.
        key_length: `S`.
        query_offset: Position of query 0 among the keys; by default `S - T`.

    Returns:
        `(B, N, T, S)`, a bias for the logits of the same queries.

    Source:
        Shaw et al. 2018, arXiv:1803.02155, equation 5, second term.
    """
    query, table = promote(query), promote(table)
    batch, length, heads, size = _backend.sizes(query)
    rows = table.shape[0]
    near = rows // 2
    matches = ops.einsum("btnh,rh->bntr", query * size**-0.5, table)
    relative = relative_positions(length, key_length, query_offset)
    row = ops.clip(relative, -near, near) + near
    # All queries of a head in one axis, so that one index serves batch and heads.
    index = ops.reshape(row + ops.arange(length)[:, None] * rows, (-1,))
    matches = ops.reshape(matches, (batch, heads, length * rows))
    logits = ops.take(matches, index, axis=-1)
    return ops.reshape(logits, (batch, heads, length, key_length))


# -------------------------------------------------------------------- tables of weights


def resized(table: Any, size: Any, grid: Any = None) -> Tensor:
    """A learned table of positions for another length or resolution.

    Linear interpolation along each axis of positions, the ends of both tables at the
    same places (as `align_corners=False` elsewhere). The same size changes nothing.

    Args:
        table: `(L, D)`, a row per position.
        size: New number of positions; with `grid`, of each axis: `(rows, columns)`.
        grid: `(rows, columns)` of the table where its positions are those of a grid,
            row by row; any number of axes.

    Returns:
        `(prod(size), D)` in the table's dtype.

    Raises:
        ValueError: if `grid` does not have `L` positions, or `size` other axes.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> from keras_attention.ops import positions
        >>> short, long = layers.PositionEmbedding(4), layers.PositionEmbedding(6)
        >>> for layer in (short, long):
        ...     layer.build((None, None, 2))
        >>> (table,) = short.get_weights()
        >>> long.set_weights([positions.resized(table, 6)])
        >>> tuple(positions.resized(table, (3, 5), grid=(2, 2)).shape)
        (15, 2)

    Source:
        Dosovitskiy et al. 2021, arXiv:2010.11929, section 3.2.
    """
    table = ops.convert_to_tensor(table)
    sizes = (size,) if grid is None else tuple(size)
    grid = (table.shape[0],) if grid is None else tuple(grid)
    require(
        math.prod(grid) == table.shape[0] and len(grid) == len(sizes),
        "`grid` must have as many positions as the table and as many axes as `size`.",
        grid=grid,
        size=size,
        positions=table.shape[0],
    )
    dtype = keras.backend.standardize_dtype(table.dtype)
    x = ops.reshape(at_least_float32(table), (*grid, table.shape[-1]))
    for axis, (old, new) in enumerate(zip(grid, sizes, strict=True)):
        matrix = ops.convert_to_tensor(_interpolation(old, new), dtype=x.dtype)
        x = ops.moveaxis(ops.tensordot(matrix, x, axes=[[1], [axis]]), 0, axis)
    return ops.cast(ops.reshape(x, (math.prod(sizes), table.shape[-1])), dtype)


def _interpolation(old: int, new: int) -> np.ndarray:
    """The weight of each old position in each new one, `(new, old)`."""
    places = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    distances = np.abs(places[:, None] - np.arange(old))
    return np.maximum(1 - distances, 0)
