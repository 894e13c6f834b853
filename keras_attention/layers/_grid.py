"""Rows and columns: of patches, and of the inputs of the 2-D position layers."""

from typing import Any

from keras_attention.errors import positive_integer, require
from keras_attention.ops import _backend

UNFILLED = (
    "`patch_size` must divide the height and the width of the images: crop, pad or "
    "resize them."
)


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


def as_pair(name: str, sizes: Any) -> tuple[int, int]:
    """Sizes of rows and of columns: an integer for both, or one each."""
    both = (sizes, sizes) if isinstance(sizes, int) else sizes
    require(
        isinstance(both, (tuple, list)) and len(both) == 2,
        f"`{name}` must be an integer or two of them, for rows and columns.",
        **{name: sizes},
    )
    rows, columns = (positive_integer(name, size) for size in both)
    return rows, columns


def patch_grid(image_size: tuple, patch_size: tuple[int, int]) -> tuple:
    """Rows and columns of the patches of an image; `None` where a size is not known.

    Raises:
        ValueError: for a known size that the patch does not divide.
    """
    known = [(n, p) for n, p in zip(image_size, patch_size, strict=True) if n]
    require(
        all(size % patch == 0 for size, patch in known),
        UNFILLED,
        image_size=image_size,
        patch_size=patch_size,
    )
    return tuple(
        size and size // patch
        for size, patch in zip(image_size, patch_size, strict=True)
    )


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
