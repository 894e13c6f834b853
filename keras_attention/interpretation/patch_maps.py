"""Scores over patches laid out as the images they were cut from."""

from typing import Any

import numpy as np
from keras import ops

from keras_attention.errors import require


def patch_maps(scores: Any, grid: tuple[int, int]) -> np.ndarray:
    """What each row of scores gives to each patch, as a map of the image.

    Args:
        scores: `(..., h w)` over patches row by row, as of attention pooling; or
            `(..., 1 + h w)` with a class token before them, whose own share is left
            out: what is there then sums to less than 1.
        grid: Patches down and across, `(h, w)`; `VisionTransformer.grid`.

    Returns:
        `(..., h, w)`, float32.

    Raises:
        ValueError: if the scores are over another number of patches.

    Examples:
        >>> from keras_attention.interpretation import patch_maps
        >>> patch_maps([[0.4, 0.1, 0.2, 0.3, 0.0, 0.0, 0.0]], (2, 3))[0].tolist()
        [[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]
    """
    scores = ops.convert_to_numpy(ops.cast(scores, "float32"))
    height, width = grid
    length, patches = scores.shape[-1], height * width
    require(
        length in (patches, patches + 1),
        "Scores must be over the patches of the grid, with or without a class token "
        f"before them: {patches} or {patches + 1}.",
        grid=tuple(grid),
        shape=scores.shape,
    )
    return scores[..., length - patches :].reshape(*scores.shape[:-1], height, width)


def class_token_maps(scores: Any, grid: tuple[int, int]) -> np.ndarray:
    """What the class token attends to, as a map of the image for every head.

    Args:
        scores: `(..., L, L)` of self-attention, or of `rollout`, with the class token
            first: `L = 1 + h w`.
        grid: Patches down and across, `(h, w)`.

    Returns:
        `(..., h, w)`: of scores `(B, N, L, L)`, a map for each image and head.

    Raises:
        ValueError: if the scores are not those of a class token and such patches.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import class_token_maps
        >>> scores = np.full((5, 3, 7, 7), 1 / 7)  # five images, three heads
        >>> class_token_maps(scores, grid=(2, 3)).shape
        (5, 3, 2, 3)
    """
    shape = tuple(scores.shape)
    expected = (1 + grid[0] * grid[1],) * 2
    require(
        shape[-2:] == expected,
        "Self-attention of a class token and the patches of the grid must end in "
        f"{expected}.",
        grid=tuple(grid),
        shape=shape,
    )
    return patch_maps(scores[..., 0, :], grid)


def word_maps(
    scores: Any, grid: tuple[int, int], words: int | None = None
) -> np.ndarray:
    """Where each step of one text looked, as maps of the image: the mean of the heads.

    Args:
        scores: `(N, T, L)` of the heads of one text, or `(T, L)`: those that a search
            kept, `Decoded.kept[row, place]`. Row t belongs to token t of what was
            found. `L` is `h w`, or `1 + h w` with a class token.
        grid: Places down and across, `(h, w)`; `ImageCaptioner.grid`.
        words: How many steps to show, such as all before the end token; by default T.

    Returns:
        `(words, h, w)`, float32; for `plots.film_strip`.

    Raises:
        ValueError: for scores of another rank, over another number of places, or of
            fewer steps than `words`.

    Examples:
        >>> from keras_attention.interpretation import word_maps
        >>> heads = [[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]
        >>> word_maps(heads, grid=(1, 2), words=1).tolist()
        [[[0.5, 0.5]]]
    """
    maps = patch_maps(scores, grid)
    require(
        maps.ndim in (3, 4) and (words is None or 0 < words <= maps.shape[-3]),
        "Scores must be those of one text, `(N, T, L)` or `(T, L)`, with a step for "
        "each of the `words`.",
        maps=maps.shape,
        words=words,
    )
    maps = maps.mean(axis=0) if maps.ndim == 4 else maps
    return maps[:words]
