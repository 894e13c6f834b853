"""What each word of a text is given: by attention, by gradients, by its absence."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import keras
import numpy as np

from applications.text.vocabulary import PADDING
from applications.text_classification.reader import TextReader
from keras_attention import interpretation

ATTENTION, GRADIENT, OCCLUSION = "attention", "gradient x input", "occlusion"

_TEXTS_AT_ONCE = 64
_WORD_START = "▁"


class Explained(NamedTuple):
    """A text's words and, by name of the measure, a number for each `(G,)`.

    Attention is a share. Gradient x input and occlusion are of the log odds of the
    predicted class: above 0 what speaks for it.
    """

    words: list[str]
    measures: dict[str, np.ndarray]


def explained(
    model: keras.Model, reader: TextReader, texts: Sequence[str]
) -> list[Explained]:
    """Measure the words of texts, in order; a model without attention has two measures.

    Args:
        model: A `models.TextClassifier`.
        reader: From texts to ids.
        texts: None of them blank.
    """
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found: dict[int, Explained] = {}
    for start in range(0, len(order), _TEXTS_AT_ONCE):
        rows = order[start : start + _TEXTS_AT_ONCE]
        some = _explained(model, reader, [texts[row] for row in rows])
        found.update(zip(rows, some, strict=True))
    return [found[row] for row in range(len(texts))]


def _explained(model, reader, texts) -> list[Explained]:
    ids = reader.ids(texts).numpy()
    words, groups = _words(reader, ids)
    by_token = {}
    shares = attention_shares(model, ids)
    if shares is not None:
        by_token[ATTENTION] = shares
    by_token[GRADIENT] = interpretation.gradient_times_input(model, ids, "embedding")
    measures = {
        name: interpretation.group_sums(values, groups)
        for name, values in by_token.items()
    }
    measures[OCCLUSION] = interpretation.occlusion(model, ids, groups)
    return [
        Explained(own, {name: x[row, : len(own)] for name, x in measures.items()})
        for row, own in enumerate(words)
    ]


def _words(reader: TextReader, ids: np.ndarray) -> tuple[list[list[str]], np.ndarray]:
    """The words of each text, and the number of the word of each id `(B, T)`."""
    groups = np.full(ids.shape, interpretation.OUTSIDE)
    texts = []
    for row, numbers in enumerate(ids):
        pieces = reader.pieces(numbers[numbers != PADDING])
        words = interpretation.words(pieces, special=())
        for number, word in enumerate(words):
            groups[row, word.start : word.stop] = number
        spelled = ["".join(pieces[word.start : word.stop]) for word in words]
        texts.append([word.replace(_WORD_START, "") for word in spelled])
    return texts, groups


def attention_shares(model: keras.Model, ids: np.ndarray) -> np.ndarray | None:
    """The share of each id `(B, T)` in what the classifier reads, if it attends.

    Of a transformer by rollout. Where the model takes the mean over positions, so do
    the shares.
    """
    if model.kind == "mean_embeddings":
        return None
    with interpretation.recording(model) as record:
        model(ids, training=False)
    if not record.names:  # linear attention has no scores
        return None
    if model.kind == "additive_pooling":
        return interpretation.received(record[0])
    scores: Any = record[0]
    if model.kind == "transformer":
        scores = interpretation.rollout(record)
    return interpretation.received(scores, ids != PADDING)


def agreement(found: Sequence[Explained]) -> dict[str, Any]:
    """How far the measures rank the words of a text alike: Kendall's tau, its mean.

    Of magnitudes: a word that speaks against the class matters too. Texts of fewer than
    two words, or where a measure gives all words the same, do not count.

    Returns:
        How many texts there were, and for each pair of measures the mean over texts
        with its 95 % interval.
    """
    pairs: dict[tuple[str, str], list[float]] = {
        pair: [] for pair in combinations(found[0].measures if found else (), 2)
    }
    for one in found:
        for first, second in pairs:
            magnitudes = (np.abs(one.measures[x])[None] for x in (first, second))
            pairs[first, second] += interpretation.rank_agreement(*magnitudes).tolist()
    means = {
        f"{first}, {second}": _mean(np.array(taus))
        for (first, second), taus in pairs.items()
    }
    return {"texts": len(found), **means}


def _mean(taus: np.ndarray) -> dict[str, float]:
    taus = taus[np.isfinite(taus)]
    if len(taus) < 2:
        return {"value": float("nan"), "low": float("nan"), "high": float("nan")}
    half = 1.96 * taus.std(ddof=1) / np.sqrt(len(taus))
    mean = float(taus.mean())
    return {"value": mean, "low": mean - half, "high": mean + half}
