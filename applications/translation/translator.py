"""From sentences to translations, in the graph: one code for Python and SavedModel."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.text.tokenizer import SubwordTokenizer
from applications.text.vocabulary import END, PADDING, START
from applications.translation.presets import TranslationConfig
from keras_attention.decoding import BeamSearch, Decoded, GreedySearch, Search

SENTENCES_AT_ONCE = 64


class Answer(NamedTuple):
    """A translation and the subword ids it was made of, the end token last."""

    translation: str
    source: list[int]
    target: list[int]


class Translator:
    """A model, its subwords and its searches.

    Args:
        model: Decodable seq2seq model.
        tokenizer: Subwords of both sides.
        config: Limits and search settings. Sources longer than `data.max_length`
            subwords are cut.
    """

    def __init__(
        self, model: Any, tokenizer: SubwordTokenizer, config: TranslationConfig
    ):
        self.model = model
        self.tokenizer = tokenizer
        self.source_length = config.data.max_length
        decode = config.decode
        tokens = (decode.max_length, START, END, PADDING)
        self.searches: dict[str, Search] = {
            "greedy": GreedySearch(*tokens),
            "beam": BeamSearch(
                *tokens,
                num_beams=decode.num_beams,
                length_penalty=decode.length_penalty,
            ),
        }
        self._compiled: dict[str, Any] = {}

    # -------------------------------------------------------------- inside the graph

    def encode(self, texts: tf.Tensor) -> tf.Tensor:
        """Source ids `(B, S)` of strings `(B,)`."""
        return self.tokenizer.encode(texts, add_end=True, max_length=self.source_length)

    def search(self, source: tf.Tensor, search: str) -> Decoded:
        """The best translations of source ids `(B, S)`."""
        strategy = self.searches[search]
        state = self.model.initial_state(source, strategy.max_length)
        return strategy.search(self.model.step, state, tf.shape(source)[0])

    def translate(self, texts: tf.Tensor, search: str = "beam") -> tf.Tensor:
        """Translations `(B,)` of strings `(B,)`; a blank text stays an empty string."""
        found = self.search(self.encode(texts), search)
        return self.spell(texts, found.tokens[:, 0])

    def spell(self, texts: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Decoded tokens `(B, L)` as text; blank where the source is blank."""
        blank = tf.equal(tf.strings.strip(texts), "")
        return tf.where(blank, "", self.tokenizer.decode(tokens))

    # -------------------------------------------------------------------- from Python

    def __call__(self, texts: Sequence[str], search: str = "beam") -> list[str]:
        """Translations of any number of sentences, in order."""
        return [answer.translation for answer in self.answers(texts, search)]

    def answers(self, texts: Sequence[str], search: str = "beam") -> list[Answer]:
        """Translations with the subwords read and written, in order."""
        if search not in self._compiled:
            self._compiled[search] = tf.function(
                lambda texts: self._answer(texts, search),
                input_signature=[tf.TensorSpec([None], tf.string)],
                autograph=False,  # loops are the search's own
            )
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found: dict[int, Answer] = {}
        for first in range(0, len(order), SENTENCES_AT_ONCE):
            rows = order[first : first + SENTENCES_AT_ONCE]
            batch = tf.constant([texts[row] for row in rows])
            columns = [x.numpy() for x in self._compiled[search](batch)]
            for row, text, source, target in zip(rows, *columns, strict=True):
                answer = Answer(text.decode(), until_end(source), until_end(target))
                found[row] = answer
        return [found[row] for row in range(len(texts))]

    def _answer(self, texts: tf.Tensor, search: str) -> tuple[tf.Tensor, ...]:
        source = self.encode(texts)
        tokens = self.search(source, search).tokens[:, 0]
        return self.spell(texts, tokens), source, tokens


def until_end(ids: np.ndarray) -> list[int]:
    """Ids up to the end token, or all where there is none."""
    ends = np.flatnonzero(ids == END)
    return ids[: ends[0] + 1].tolist() if ends.size else ids.tolist()


def target_inputs(tokens: tf.Tensor) -> tf.Tensor:
    """What the decoder read while it wrote `tokens` `(B, L)`: shifted, start first."""
    start = tf.fill([tf.shape(tokens)[0], 1], START)
    shifted = tf.concat([tf.cast(start, tokens.dtype), tokens[:, :-1]], axis=1)
    after_end = tf.equal(tf.concat([tf.zeros_like(start), tokens[:, :-1]], 1), END)
    return tf.where(after_end, PADDING, shifted)
