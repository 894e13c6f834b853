"""What each step of a translation looked at."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.translation.translator import (
    SENTENCES_AT_ONCE,
    Answer,
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
    translator: Translator, answers: Sequence[Answer]
) -> Iterator[Alignment]:
    """What was attended while each answer was written."""
    for first in range(0, len(answers), SENTENCES_AT_ONCE):
        batch = answers[first : first + SENTENCES_AT_ONCE]
        source = tf.ragged.constant([answer.source for answer in batch]).to_tensor()
        target = tf.ragged.constant([answer.target for answer in batch]).to_tensor()
        with recording(translator.model) as record:
            translator.model.cross_attention_scores(source, target_inputs(target))
        layers = {
            name.split("/")[0]: record.numpy(name)
            for name in record
            if "self_attention" not in name
        }
        for row, answer in enumerate(batch):
            yield _alignment(translator, answer, layers, row)


def _alignment(
    translator: Translator, answer: Answer, layers: dict[str, np.ndarray], row: int
) -> Alignment:
    scores = {
        name: _heads(values[row])[:, : len(answer.target), : len(answer.source)]
        for name, values in layers.items()
    }
    pieces = translator.tokenizer.pieces
    return Alignment(pieces(answer.source), pieces(answer.target), scores)


def _heads(scores: np.ndarray) -> np.ndarray:
    """Scores of one head `(T, S)` as `(1, T, S)`."""
    return scores[None] if scores.ndim == 2 else scores


def copy_alignment_of(
    translator: Translator, answers: Sequence[Answer]
) -> dict[str, Any]:
    """How often copied numbers and names are looked at while they are written.

    All heads of all decoder layers are counted.
    """
    measured = copy_alignment(
        (np.concatenate(list(each.scores.values())), each.source, each.target)
        for each in alignments(translator, answers)
    )
    return measured._asdict() if measured.words else {"words": 0}
