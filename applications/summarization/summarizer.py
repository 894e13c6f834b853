"""From texts to summaries, and what their words were copied from."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from applications.summarization.presets import SummarizationConfig
from applications.text.alignment import padded_ids
from applications.text.writer import Answer, Writer
from keras_attention import models
from keras_attention.decoding import NoRepeatNGrams


class Summarizer(Writer):
    """A `Writer` with the limits, searches and rules of a run.

    Args:
        model: Decodable seq2seq model.
        tokenizer: Of both sides.
        config: Limits and search settings. Of a text of more subwords than
            `data.max_source_length` the first are read.
    """

    def __init__(self, model: Any, tokenizer: Any, config: SummarizationConfig):
        size = config.decode.no_repeat_ngram
        super().__init__(
            model,
            tokenizer,
            config.decode,
            config.data.max_source_length,
            min_length=config.decode.min_length,
            rules=[NoRepeatNGrams(size)] if size else [],
        )


class Copying(NamedTuple):
    """How one summary was written.

    Attributes:
        attention: `(T, S)`, of the head that copies: row `t` wrote the subword `t`.
        copied: `(T, S)`, the probability that it was copied from there.
    """

    attention: np.ndarray
    copied: np.ndarray


def copyings(writer: Writer, answers: Sequence[Answer]) -> Iterator[Copying]:
    """What each answer of a copying model was copied from."""
    for batch, source, inputs in padded_ids(writer, answers):
        details = writer.model.copy_details(source, inputs)
        attention = keras.ops.convert_to_numpy(
            keras.ops.cast(details.attention_scores[:, 0], "float32")
        )
        copied = keras.ops.convert_to_numpy(details.copy_probability)
        for row, answer in enumerate(batch):
            steps, places = len(answer.target), len(answer.source)
            yield Copying(attention[row, :steps, :places], copied[row, :steps, :places])


def copies(model: Any) -> bool:
    """Whether a model can copy words of its source."""
    return isinstance(model, models.PointerGenerator)
