"""Rows and columns of the inputs of the 2-D position layers."""

from typing import Any

from keras_attention.errors import positive_integer, require
from keras_attention.ops import _backend


def as_grid(grid: Any) -> tuple[int, int] | None:
    """The `grid` argument of a layer: rows and columns, or `None`."""
    if grid is None:
        return None
    require(
        isinstance(grid, (tuple, list)) and len(grid) == 2,
        "`grid` must be (rows, columns).",
        grid=grid,
    )
    rows, columns = (positive_integer("grid", size) for size in grid)
    return rows, columns


def grid_of(inputs: Any, grid: tuple[int, int] | None, features: int) -> tuple:
    """Rows and columns of `(..., rows, columns, features...)`.

    Args:
        inputs: The tensor; with a `grid` its positions lie in one axis, row by row.
        grid: Rows and columns, where they are known beforehand.
        features: Number of axes after the positions.
    """
    rank = 1 + features + (2 if grid is None else 1)
    axes = "(rows, columns)" if grid is None else "(rows * columns)"
    require(
        len(inputs.shape) >= rank,
        f"The input must have axes {axes} between batch and features.",
        shape=tuple(inputs.shape),
        grid=grid,
    )
    if grid is None:
        return tuple(_backend.sizes(inputs)[-features - 2 : -features])
    length = inputs.shape[-features - 1]
    require(
        length is None or length == grid[0] * grid[1],
        "The input must have one position for each place of the `grid`.",
        length=length,
        grid=grid,
    )
    return grid
