"""How far two measures agree on which words matter."""

from typing import Any

import numpy as np
from keras import ops

from keras_attention.errors import require


def rank_agreement(first: Any, second: Any, mask: Any | None = None) -> np.ndarray:
    """Kendall's tau-b between two measures of each text: do they rank words alike?

    1 where both bring the words into one order, -1 where into opposite ones, 0 where
    the order of one says nothing about the other's. Only order counts, so attention
    weights and changes of a score can be compared; take magnitudes first where one has
    a sign. A tau well below that between two measures of importance says that
    attention is not such a measure; a high one does not prove that it is.

    Args:
        first: `(B, T)` numbers.
        second: `(B, T)` numbers.
        mask: `(B, T)`, True = a word; by default all are.

    Returns:
        `(B,)` float64. NaN where fewer than two words are left or a measure gives all
        of them the same number: take means with `np.nanmean`.

    Raises:
        ValueError: for shapes that are not one `(B, T)`.

    Examples:
        >>> from keras_attention.interpretation import rank_agreement
        >>> first, second = [[0.1, 0.2, 0.7]], [[1.0, 3.0, 2.0]]
        >>> round(float(rank_agreement(first, second)[0]), 4)  # 2 pairs of 3 agree
        0.3333

    Source: Kendall 1945, "The treatment of ties in ranking problems"; for attention
    Jain & Wallace 2019, arXiv:1902.10186, section 4.1.
    """
    first, second = (ops.convert_to_numpy(x).astype("float64") for x in (first, second))
    mask = np.ones(first.shape) if mask is None else ops.convert_to_numpy(mask)
    require(
        first.ndim == 2 and first.shape == second.shape == mask.shape,
        "`first`, `second` and `mask` must have one shape (B, T).",
        first=first.shape,
        second=second.shape,
        mask=mask.shape,
    )
    taus = [
        _tau(one[kept], other[kept])
        for one, other, kept in zip(first, second, mask.astype(bool), strict=True)
    ]
    return np.array(taus, dtype="float64")


def _tau(first: np.ndarray, second: np.ndarray) -> float:
    """Pairs in one order minus pairs in opposite ones, of those without ties."""
    one, other = (np.sign(x[:, None] - x[None, :]) for x in (first, second))
    untied = np.sqrt((one**2).sum() * (other**2).sum())
    return float((one * other).sum() / untied) if untied else float("nan")
