"""What each step of an answer looked at."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.text.writer import TEXTS_AT_ONCE, Answer, Writer, target_inputs
from keras_attention.interpretation import recording


class Alignment(NamedTuple):
    """One answer and its attention.

    Attributes:
        source: Source subwords, the end token last.
        target: Written subwords, the end token last.
        scores: By decoder layer `(N, T, S)`: row `t` is the step that wrote
            `target[t]`.
    """

    source: list[str]
    target: list[str]
    scores: dict[str, np.ndarray]


def has_attention(model: Any) -> bool:
    """Whether a seq2seq model looks back at the source, and shows it."""
    shows = hasattr(model, "cross_attention_scores")
    return shows and model.get_config().get("attention") != "none"


def padded_ids(
    writer: Writer, answers: Sequence[Answer]
) -> Iterator[tuple[Sequence[Answer], tf.Tensor, tf.Tensor]]:
    """Answers a few at once, with their source ids and what the decoder read."""
    tokenizer = writer.tokenizer
    for first in range(0, len(answers), TEXTS_AT_ONCE):
        batch = answers[first : first + TEXTS_AT_ONCE]
        source = tf.ragged.constant([answer.source for answer in batch]).to_tensor()
        target = tf.ragged.constant([answer.target for answer in batch]).to_tensor()
        yield batch, source, target_inputs(target, tokenizer.start, tokenizer.end)


def alignments(writer: Writer, answers: Sequence[Answer]) -> Iterator[Alignment]:
    """What was attended while each answer was written."""
    for batch, source, inputs in padded_ids(writer, answers):
        with recording(writer.model) as record:
            writer.model.cross_attention_scores(source, inputs)
        layers = {
            name.split("/")[0]: record.numpy(name)
            for name in record
            if _is_cross_attention(name)
        }
        for row, answer in enumerate(batch):
            yield _alignment(writer, answer, layers, row)


def _is_cross_attention(name: str) -> bool:
    return "self_attention" not in name and not name.startswith("encoder")


def _alignment(
    writer: Writer, answer: Answer, layers: dict[str, np.ndarray], row: int
) -> Alignment:
    scores = {
        name: _heads(values[row])[:, : len(answer.target), : len(answer.source)]
        for name, values in layers.items()
    }
    pieces = writer.tokenizer.pieces
    return Alignment(pieces(answer.source), pieces(answer.target), scores)


def _heads(scores: np.ndarray) -> np.ndarray:
    """Scores of one head `(T, S)` as `(1, T, S)`."""
    return scores[None] if scores.ndim == 2 else scores
