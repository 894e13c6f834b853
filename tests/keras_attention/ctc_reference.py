"""CTC by brute force: every alignment, in float64."""

import itertools

import numpy as np

from tests.keras_attention.decoding.toys import log_softmax


def collapsed(alignment, blank=0):
    """What an alignment says: repeats merged, then blanks left out."""
    merged = [token for token, _ in itertools.groupby(alignment)]
    return tuple(token for token in merged if token != blank)


def texts(logits, blank=0, excluded=()):
    """Probability of every text that `(S, V)` logits can say.

    Classes `excluded` are none of those a frame may have.
    """
    logits = np.array(logits, "float64")
    logits[:, list(excluded)] = -np.inf
    frames = np.exp(log_softmax(logits))
    found = {}
    for alignment in itertools.product(range(frames.shape[1]), repeat=len(frames)):
        text = collapsed(alignment, blank)
        chance = frames[range(len(frames)), alignment].prod()
        if chance:
            found[text] = found.get(text, 0.0) + chance
    return found
