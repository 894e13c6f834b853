"""When a CTC model says each token of a text."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_attention.errors import require


def ctc_alignment(
    log_probabilities: Any, labels: Sequence[int], blank: int = 0
) -> np.ndarray:
    """How probable it is that a place says a token, given that the text is right.

    The sum over all alignments of the text to the places, each with its probability:
    at a place the numbers of all tokens sum to 1 less what is left for the blank. A
    token's row sums to the number of places that say it, one at least. Unlike attention
    it cannot go back in time.

    Time and memory `O(U S)`.

    Args:
        log_probabilities: `(S, V)`, natural logarithms, of the real places of one clip;
            logits are normalized.
        labels: The U tokens of the text, without blanks.
        blank: Class of the blank.

    Returns:
        `(U, S)` float64.

    Raises:
        ValueError: the shape is another, or the text cannot fit the places.

    Examples:
        Of two places one says the token, and both or either may:

        >>> import numpy as np
        >>> from keras_attention.interpretation import ctc_alignment
        >>> ctc_alignment(np.log([[0.5, 0.5], [0.5, 0.5]]), [1]).round(3).tolist()
        [[0.667, 0.667]]

    Source:
        Graves et al. 2006, "Connectionist temporal classification", equations 6 to 11.
    """
    scores = keras.ops.convert_to_numpy(log_probabilities).astype("float64")
    require(
        scores.ndim == 2 and scores.size > 0,
        "`log_probabilities` must have the shape (S, V), none of them 0.",
        shape=scores.shape,
    )
    scores = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    # Blanks around and between the tokens: (2 U + 1,).
    path = np.full(2 * len(labels) + 1, blank)
    path[1::2] = labels
    may_skip = np.zeros(len(path), bool)  # from the token before, past the blank
    may_skip[3::2] = path[3::2] != path[1:-2:2]
    emitted = scores[:, path]  # (S, 2 U + 1)
    before = _ways(emitted, may_skip)
    # Backward is forward in the mirror, where a skip leads into the token before.
    mirrored = np.zeros(len(path), bool)
    mirrored[2:] = may_skip[::-1][:-2]
    after = _ways(emitted[::-1, ::-1], mirrored)[::-1, ::-1]
    total = np.logaddexp.reduce((before + emitted)[-1, -2:])
    require(
        bool(np.isfinite(total)),
        "`labels` must fit the places: as many as tokens, and one more for every token "
        "that is like the one before it.",
        labels=len(labels),
        places=len(scores),
    )
    return np.exp(before + emitted + after - total)[:, 1::2].T


def _ways(emitted: np.ndarray, may_skip: np.ndarray) -> np.ndarray:
    """Log-probability of all ways that lead to each state at each place, `(S, P)`.

    What the state says at the place itself is not in it.
    """
    found = np.full(emitted.shape, -np.inf)
    found[0, :2] = 0.0
    for place in range(1, len(emitted)):
        stays = found[place - 1] + emitted[place - 1]
        comes = np.concatenate([[-np.inf], stays[:-1]])
        skips = np.concatenate([[-np.inf, -np.inf], stays[:-2]])[: len(stays)]
        skips = np.where(may_skip, skips, -np.inf)
        found[place] = np.logaddexp(np.logaddexp(stays, comes), skips)
    return found
