"""What each step of a translation looked at."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.text.vocabulary import END
from applications.translation.translator import (
    SENTENCES_AT_ONCE,
    Translator,
    target_inputs,
)
from keras_attention.interpretation import copy_alignment, recording


class Alignment(NamedTuple):
    """One translation and its attention.

    Attributes:
        source: Source subwords, the end token last.
        target: Written subwords, the end token last.
        scores: By decoder layer `(N, T, S)`: row `t` is the step that wrote
            `target[t]`.
    """

    source: list[str]
    target: list[str]
    scores: dict[str, np.ndarray]


def alignments(
    translator: Translator, texts: Sequence[str], search: str = "beam"
) -> Iterator[Alignment]:
    """Translate and yield what was attended, of the winning hypothesis of each text."""
    for first in range(0, len(texts), SENTENCES_AT_ONCE):
        batch = texts[first : first + SENTENCES_AT_ONCE]
        source = translator.encode(tf.constant(batch))
        tokens = translator.search(source, search).tokens[:, 0]
        with recording(translator.model) as record:
            translator.model.cross_attention_scores(source, target_inputs(tokens))
        layers = {
            name.split("/")[0]: record.numpy(name)
            for name in record
            if "self_attention" not in name
        }
        for row in range(len(source)):
            yield _alignment(translator, source[row], tokens[row], layers, row)


def _alignment(translator, source, tokens, layers, row) -> Alignment:
    source, tokens = _until_end(source.numpy()), _until_end(tokens.numpy())
    scores = {
        name: _heads(values[row])[:, : len(tokens), : len(source)]
        for name, values in layers.items()
    }
    pieces = translator.tokenizer.pieces
    return Alignment(pieces(source), pieces(tokens), scores)


def _heads(scores: np.ndarray) -> np.ndarray:
    """Scores of one head `(T, S)` as `(1, T, S)`."""
    return scores[None] if scores.ndim == 2 else scores


def _until_end(ids: np.ndarray) -> list[int]:
    ends = np.flatnonzero(ids == END)
    return ids[: ends[0] + 1].tolist() if ends.size else ids.tolist()


def copy_alignment_of(translator: Translator, texts: Sequence[str]) -> dict[str, Any]:
    """How often copied numbers and names are looked at while they are written.

    All heads of all decoder layers are counted.
    """
    measured = copy_alignment(
        (np.concatenate(list(each.scores.values())), each.source, each.target)
        for each in alignments(translator, texts)
    )
    return measured._asdict() if measured.words else {"words": 0}
