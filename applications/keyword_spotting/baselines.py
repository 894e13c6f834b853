"""What a classifier of clips must beat: the most frequent word, the nearest pattern."""

import numpy as np

from applications.keyword_spotting.data import Clips

STEPS = 10  # to which the frames of every clip are brought, however many they are


def patterns(frames: list[np.ndarray]) -> np.ndarray:
    """Clips as rows of one length `(n, STEPS * F)`: as if all were equally long.

    Frames between two are the straight line from one to the other.
    """
    return np.stack([_pattern(clip).ravel() for clip in frames])


def nearest_mean(train: Clips, frames: list[np.ndarray]) -> np.ndarray:
    """The class whose mean pattern is nearest to that of each clip, `(n,)`.

    Args:
        train: What the means are of.
        frames: Of the clips.
    """
    known, found = patterns(train.frames), patterns(frames)
    classes = np.unique(train.labels)
    means = np.stack([known[train.labels == label].mean(axis=0) for label in classes])
    # Squared distances, but for what all classes of a clip have in common.
    distances = (means**2).sum(axis=1) - 2 * found @ means.T  # (n, classes)
    return classes[distances.argmin(axis=1)]


def most_frequent(train: Clips, count: int) -> np.ndarray:
    """The class that most training clips have, `(count,)`."""
    return np.full(count, np.bincount(train.labels).argmax())


def _pattern(clip: np.ndarray) -> np.ndarray:
    places = np.linspace(0, len(clip) - 1, STEPS)
    before = places.astype(int)
    share = (places - before)[:, None]
    after = np.minimum(before + 1, len(clip) - 1)
    return clip[before] * (1 - share) + clip[after] * share
