"""From a matrix of attention to a number for each position that was attended."""

from typing import Any

import numpy as np
from keras import ops

from keras_attention.errors import require


def received(scores: Any, query_mask: Any | None = None) -> np.ndarray:
    """The share of all attention that each key gets, the mean over heads and queries.

    Where a model takes the mean over what queries read, as a classifier may, this is
    the weight that each value has in it.

    Args:
        scores: `(B, T, S)` or `(B, N, T, S)`, after the softmax; or what `rollout`
            returns.
        query_mask: `(B, T)`, True = a real position; by default all are.

    Returns:
        `(B, S)` float32. A row sums to 1, or to 0 where no real query attends.

    Raises:
        ValueError: for other shapes.

    Examples:
        >>> from keras_attention.interpretation import received
        >>> received([[[1.0, 0.0], [0.5, 0.5]]]).tolist()
        [[0.75, 0.25]]
        >>> received([[[1.0, 0.0], [0.5, 0.5]]], [[False, True]]).tolist()
        [[0.5, 0.5]]
    """
    scores = ops.convert_to_numpy(scores).astype("float32")
    require(
        scores.ndim in (3, 4),
        "`scores` must have the shape (B, T, S) or (B, N, T, S).",
        shape=scores.shape,
    )
    by_query = scores if scores.ndim == 3 else scores.mean(axis=1)  # (B, T, S)
    if query_mask is None:
        query_mask = np.ones(by_query.shape[:2])
    mask = ops.convert_to_numpy(query_mask).astype("float32")
    require(
        mask.shape == by_query.shape[:2],
        "`query_mask` must have the shape (B, T).",
        query_mask=mask.shape,
        scores=scores.shape,
    )
    total = np.einsum("bts,bt->bs", by_query, mask)
    return total / np.maximum(mask.sum(axis=1, keepdims=True), 1)


def group_sums(values: Any, groups: Any) -> np.ndarray:
    """Values of positions summed to values of words, such as of subwords.

    Args:
        values: `(B, T)`.
        groups: `(B, T)` integers: the number of the word that each position belongs
            to, from 0 on; what is below 0 belongs to none. As of `occlusion`.

    Returns:
        `(B, G)` float32, G the most words of a text; 0 for words that it does not have.

    Raises:
        ValueError: for shapes that differ.

    Examples:
        >>> from keras_attention.interpretation import group_sums
        >>> group_sums([[0.5, 0.25, 0.25]], [[0, 0, -1]]).tolist()
        [[0.75]]
    """
    values = ops.convert_to_numpy(values).astype("float32")
    groups = ops.convert_to_numpy(groups)
    require(
        values.ndim == 2 and values.shape == groups.shape,
        "`values` and `groups` must have the same shape (B, T).",
        values=values.shape,
        groups=groups.shape,
    )
    numbers = np.arange(groups.max(initial=-1) + 1)
    belongs = (groups[:, :, None] == numbers).astype("float32")  # (B, T, G)
    return np.einsum("bt,btg->bg", values, belongs)
