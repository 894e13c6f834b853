"""From texts to texts, in the graph: one code for Python and SavedModel."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.text.seq2seq_config import DecodeConfig
from applications.text.tokenizer import SubwordTokenizer
from applications.text.vocabulary import END, PADDING, START
from keras_attention.decoding import BeamSearch, Decoded, GreedySearch, Search

TEXTS_AT_ONCE = 64


class Answer(NamedTuple):
    """What was written, and the ids it was made of, the end token last."""

    text: str
    source: list[int]
    target: list[int]


class Writer:
    """A model, its subwords and its searches.

    Args:
        model: Decodable seq2seq model.
        tokenizer: Of both sides.
        decode: Search settings.
        source_length: Sources of more ids are cut; the end token stays.
        **options: Of every search, see `keras_attention.decoding.Search`.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: SubwordTokenizer,
        decode: DecodeConfig,
        source_length: int,
        **options: Any,
    ):
        self.model = model
        self.tokenizer = tokenizer
        self.source_length = source_length
        tokens = (decode.max_length, tokenizer.start, tokenizer.end, PADDING)
        self.searches: dict[str, Search] = {
            "greedy": GreedySearch(*tokens, **options),
            "beam": BeamSearch(
                *tokens,
                num_beams=decode.num_beams,
                length_penalty=decode.length_penalty,
                **options,
            ),
        }
        self._compiled: dict[str, Any] = {}

    # -------------------------------------------------------------- inside the graph

    def encode(self, texts: tf.Tensor) -> tf.Tensor:
        """Source ids `(B, S)` of strings `(B,)`."""
        return self.tokenizer.encode(texts, add_end=True, max_length=self.source_length)

    def search(self, source: tf.Tensor, search: str) -> Decoded:
        """The best answers to source ids `(B, S)`."""
        strategy = self.searches[search]
        state = self.model.initial_state(source, strategy.max_length)
        return strategy.search(self.model.step, state, tf.shape(source)[0])

    def spell(self, texts: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Decoded tokens `(B, L)` as text; empty where the source is blank."""
        blank = tf.equal(tf.strings.strip(texts), "")
        return tf.where(blank, "", self.tokenizer.decode(tokens))

    # -------------------------------------------------------------------- from Python

    def __call__(self, texts: Sequence[str], search: str = "beam") -> list[str]:
        """Answers to any number of texts, in order."""
        return [answer.text for answer in self.answers(texts, search)]

    def answers(self, texts: Sequence[str], search: str = "beam") -> list[Answer]:
        """Answers with the ids read and written, in order."""
        if search not in self._compiled:
            self._compiled[search] = tf.function(
                lambda texts: self._answer(texts, search),
                input_signature=[tf.TensorSpec([None], tf.string)],
                autograph=False,  # loops are the search's own
            )
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found: dict[int, Answer] = {}
        end = self.tokenizer.end
        for first in range(0, len(order), TEXTS_AT_ONCE):
            rows = order[first : first + TEXTS_AT_ONCE]
            batch = tf.constant([texts[row] for row in rows])
            columns = [x.numpy() for x in self._compiled[search](batch)]
            for row, text, source, target in zip(rows, *columns, strict=True):
                ids = until_end(source, end), until_end(target, end)
                found[row] = Answer(text.decode(), *ids)
        return [found[row] for row in range(len(texts))]

    def _answer(self, texts: tf.Tensor, search: str) -> tuple[tf.Tensor, ...]:
        source = self.encode(texts)
        tokens = self.search(source, search).tokens[:, 0]
        return self.spell(texts, tokens), source, tokens


def until_end(ids: np.ndarray, end: int = END) -> list[int]:
    """Ids up to the end token, or all where there is none."""
    ends = np.flatnonzero(ids == end)
    return ids[: ends[0] + 1].tolist() if ends.size else ids.tolist()


def target_inputs(tokens: tf.Tensor, start: int = START, end: int = END) -> tf.Tensor:
    """What the decoder read while it wrote `tokens` `(B, L)`: shifted, start first."""
    first = tf.cast(tf.fill([tf.shape(tokens)[0], 1], start), tokens.dtype)
    before = tokens[:, :-1]
    ended = tf.concat([tf.zeros_like(first, tf.bool), tf.equal(before, end)], 1)
    return tf.where(ended, PADDING, tf.concat([first, before], axis=1))
