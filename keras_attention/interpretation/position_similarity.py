"""How alike a model holds the positions of an image."""

from typing import Any

import numpy as np
from keras import ops

from keras_attention.errors import require


def position_similarity(positions: Any, grid: tuple[int, int]) -> np.ndarray:
    """Cosine similarity of the vector of each position with that of every other.

    Where a learned table has understood the image, near positions are alike, and so are
    those of one row or one column.

    Args:
        positions: `(h w, D)`, a row for each patch, row by row; or `(1 + h w, D)` with
            a class token before them, which is left out. A learned table of
            `VisionTransformer` is `model.get_layer("positions").embeddings`.
        grid: Patches down and across, `(h, w)`.

    Returns:
        `(h, w, h, w)` float32 in [-1, 1]: entry `i, j` is the map of the similarities
        of position `i, j`. Vectors that are 0 are like nothing: 0.

    Raises:
        ValueError: if the table has another number of rows.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import position_similarity
        >>> table = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
        >>> position_similarity(table, grid=(1, 3))[0, 0].tolist()
        [[1.0, 1.0, 0.0]]

    Source: Dosovitskiy et al. 2021, arXiv:2010.11929, figure 7, center.
    """
    positions = ops.convert_to_numpy(ops.cast(positions, "float32")).astype("float64")
    height, width = grid
    count = height * width
    require(
        positions.ndim == 2 and len(positions) in (count, count + 1),
        "`positions` must have a row for each patch of the grid, with or without a "
        f"class token before them: {count} or {count + 1}.",
        grid=tuple(grid),
        shape=positions.shape,
    )
    patches = positions[len(positions) - count :]
    lengths = np.linalg.norm(patches, axis=-1, keepdims=True)
    directions = patches / np.where(lengths > 0, lengths, 1)
    similarity = np.clip(directions @ directions.T, -1, 1)
    return similarity.reshape(height, width, height, width).astype("float32")
