"""Attention rollout: what the last layer's positions have of those of the input."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from keras import ops

from keras_attention.errors import fraction, one_of, require
from keras_attention.interpretation.capture import Record

_HEADS = {"mean": np.mean, "max": np.max, "min": np.min}
_ROUNDING = 0.01  # of the sum of a row; bfloat16 rounds each share by up to 1/512


def rollout(
    scores: Record | Iterable[Any],
    heads: str = "mean",
    residual: float = 0.5,
    discard: float = 0.0,
    names: Sequence[str] | None = None,
) -> np.ndarray:
    """Attention followed through all layers of an encoder, residual paths included.

    Each layer passes on `residual I + (1 - residual) A`, with the heads of `A` joined
    and rows made to sum to 1; the product of all layers says how much of each input
    position reaches each output position. It reads attention as if values were all
    alike and feed-forward networks kept positions as they are: a better summary than
    one layer's scores, not what the output depends on.

    Args:
        scores: A `Record` of `capture`, of which the self-attention counts: scores of
            the shape `(B, N, L, L)` or `(B, L, L)` whose rows sum to 1 or 0, which
            those of gates do not. Or such scores themselves, first layer first.
        heads: How heads are joined: `"mean"` as in the paper, `"max"` or `"min"`.
        residual: The share of the residual path, in [0, 1); 0.5 as in the paper.
        discard: The share of each image's smallest joined scores that is set to 0
            first, in [0, 1). Not in the paper; it clears noise, and with it whatever
            was spread evenly.
        names: The layers of a record to follow, by path or its end, first layer first.
            Needed where attention from one sequence to another of the same length is in
            the record, which no shape tells apart.

    Returns:
        `(B, L, L)`: rows are positions after the last layer, columns positions of the
        input. A row sums to 1, or to 0 where nothing was attended and `residual` is 0.

    Raises:
        ValueError: if there are no such scores, layers do not fit each other, a name
            fits none or several, or a share lies outside its range.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import rollout
        >>> first = np.array([[[0.0, 1.0], [1.0, 0.0]]])
        >>> rollout([first]).tolist()
        [[[0.5, 0.5], [0.5, 0.5]]]

    Source: Abnar & Zuidema 2020, arXiv:2005.00928, section 3.
    """
    join = _HEADS[one_of("heads", heads, _HEADS)]
    fraction("residual", residual)
    fraction("discard", discard)
    total: np.ndarray | None = None
    for layer in _self_attention(scores, names):
        joined = join(layer, axis=1)  # (B, L, L)
        if discard:
            joined = _without_smallest(joined, discard)
        step = (1 - residual) * joined + residual * np.eye(joined.shape[-1])
        sums = step.sum(axis=-1, keepdims=True)
        step = step / np.where(sums > 0, sums, 1)
        total = step if total is None else step @ total
    return total


def _self_attention(scores, names) -> list[np.ndarray]:
    """Scores of each layer as `(B, N, L, L)`, in double precision."""
    require(
        names is None or isinstance(scores, Record),
        "`names` chooses from a `Record` of `capture`: give it as `scores`.",
        names=names,
    )
    if names is not None:
        found = [scores.numpy(name) for name in names]
    elif isinstance(scores, Record):
        square = (scores.numpy(name) for name in scores if _is_square(scores[name]))
        found = [x for x in square if _shares_out(x)]
    else:
        found = [ops.convert_to_numpy(ops.cast(x, "float32")) for x in scores]
    shapes = {(x.shape[0], *x.shape[-2:]) for x in found}
    require(
        len(shapes) == 1 and all(_is_square(x) for x in found),
        "`scores` must hold self-attention of the shape (B, N, L, L) or (B, L, L), the "
        "same B and L in every layer.",
        shapes=[x.shape for x in found],
    )
    return [(x if x.ndim == 4 else x[:, None]).astype("float64") for x in found]


def _is_square(scores: Any) -> bool:
    return len(scores.shape) in (3, 4) and scores.shape[-1] == scores.shape[-2]


def _shares_out(scores: np.ndarray) -> bool:
    """Whether every row sums to 1, or to 0 where there was nothing to attend."""
    sums = scores.sum(axis=-1)
    return bool((np.minimum(abs(sums), abs(sums - 1)) < _ROUNDING).all())


def _without_smallest(joined: np.ndarray, share: float) -> np.ndarray:
    """`(B, L, L)` with that share of each image's numbers set to 0."""
    flat = joined.reshape(len(joined), -1).copy()
    count = int(share * flat.shape[1])
    smallest = np.argpartition(flat, count, axis=1)[:, :count]
    np.put_along_axis(flat, smallest, 0.0, axis=1)
    return flat.reshape(joined.shape)
