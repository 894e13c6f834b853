"""Occlusion: how a score changes where a word is taken away."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.interpretation._gradients import log_odds

OUTSIDE = -1  # group of a position that is never taken away


def occlusion(
    model: keras.Model,
    ids: Any,
    groups: Any | None = None,
    classes: int | Sequence[int] | None = None,
    replacement: int = 0,
    batch_size: int = 256,
) -> np.ndarray:
    """How far the log odds of a class fall without each word (leave one out).

    Each group of positions is replaced in turn and the model asked again, so nothing
    is assumed about it. A word whose work another one does as well shows as
    unimportant: only one is away at a time. As many forward passes as there are words.

    Args:
        model: Any Keras model from token ids `(B, T)` to logits `(B, C)`.
        ids: `(B, T)` integers.
        groups: `(B, T)` integers: the number of the word that each position belongs
            to, from 0 on, and `OUTSIDE` (-1) for padding. By default every position
            is a word of its own.
        classes: The class for all texts, or one for each; by default the one the model
            predicts for each whole text.
        replacement: What stands in the place of a word: 0 is padding, which a model
            that masks does not see.
        batch_size: Texts the model is asked at once.

    Returns:
        `(B, G)` float32, G the most words of a text: above 0 where the word speaks for
        the class, 0 for words that a text does not have.

    Raises:
        ValueError: for other shapes, groups below -1, or classes that do not exist.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> from keras_attention.interpretation import occlusion
        >>> model = models.TextClassifier(vocabulary_size=9, num_classes=2)
        >>> ids = np.array([[5, 6, 7], [8, 0, 0]])
        >>> words = np.array([[0, 0, 1], [0, -1, -1]])
        >>> occlusion(model, ids, words).shape
        (2, 2)

    Source: Li, Monroe & Jurafsky 2016, arXiv:1612.08220, section 3.
    """
    ids = ops.convert_to_numpy(ids)
    groups = _checked(ids, groups)
    positive_integer("batch_size", batch_size)
    # One row for each text, and one for each word of each text.
    texts, words = np.nonzero(_has(groups))
    without = np.where(groups[texts] == words[:, None], replacement, ids[texts])
    logits = _logits(model, np.concatenate([ids, without]), batch_size)
    whole, left = logits[: len(ids)], logits[len(ids) :]
    if classes is None:
        classes = whole.argmax(axis=-1)
    classes = np.broadcast_to(np.asarray(classes), (len(ids),))
    drops = np.zeros((len(ids), groups.max(initial=OUTSIDE) + 1), "float32")
    drops[texts, words] = _odds(whole, classes)[texts] - _odds(left, classes[texts])
    return drops


def _checked(ids: np.ndarray, groups: Any | None) -> np.ndarray:
    if groups is None:
        groups = np.broadcast_to(np.arange(ids.shape[-1]), ids.shape)
    groups = ops.convert_to_numpy(groups)
    require(
        ids.ndim == 2 and groups.shape == ids.shape,
        "`ids` and `groups` must have the same shape (B, T).",
        ids=ids.shape,
        groups=groups.shape,
    )
    smallest = groups.min(initial=OUTSIDE)
    require(smallest >= OUTSIDE, "`groups` must be at least -1.", smallest=smallest)
    return groups


def _has(groups: np.ndarray) -> np.ndarray:
    """Whether each text has each word, `(B, G)`."""
    numbers = np.arange(groups.max(initial=OUTSIDE) + 1)
    return (groups[:, :, None] == numbers).any(axis=1)


def _logits(model, ids: np.ndarray, batch_size: int) -> np.ndarray:
    # Compiled: a recurrent network is several times faster than step by step.
    return model.predict(ids, batch_size=batch_size, verbose=0).astype("float32")


def _odds(logits: np.ndarray, classes: np.ndarray) -> np.ndarray:
    return ops.convert_to_numpy(log_odds(ops.convert_to_tensor(logits), classes))
