"""What needs no training: the mean, and kernel regression in plain NumPy."""

import numpy as np


def nadaraya_watson(
    queries: np.ndarray, x: np.ndarray, y: np.ndarray, bandwidth: float
) -> tuple[np.ndarray, np.ndarray]:
    """Kernel regression with a Gaussian kernel.

    Args:
        queries: `(T,)`.
        x: Of the known points `(S,)`.
        y: Of the known points `(S,)`.
        bandwidth: In units of x.

    Returns:
        The values `(T,)` and the weights `(T, S)`.
    """
    logits = -((queries[:, None] - x) ** 2) / (2 * bandwidth**2)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights @ y, weights


def mean_squared_error(predicted: np.ndarray, y: np.ndarray) -> float:
    """In squared units of y."""
    return float(np.mean((predicted - y) ** 2))
