"""From a text with gaps to the whole text: one code for Python and SavedModel.

A gap is written `[MASK]`. A masked model puts one token into each; a model of two sides
writes as many as it likes.
"""

import abc
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf

from applications.language_modeling.continuation import allowed_tokens
from applications.language_modeling.tokens import Tokens
from applications.text.vocabulary import END, PADDING, START
from keras_attention import decoding

Tensor = Any

TEXTS_AT_ONCE = 64


class Filler(abc.ABC):
    """A model and its tokens.

    Args:
        model: Of the objective.
        tokens: Of its texts.
        length: Tokens that are read at most; a longer text loses its end.
    """

    def __init__(self, model: Any, tokens: Tokens, length: int) -> None:
        self.model, self.tokens, self.length = model, tokens, length

    @cached_property
    def compiled(self) -> Any:
        """`answer`, traced once."""
        signature = [tf.TensorSpec([None], tf.string, name="text")]
        compiled = tf.function(
            lambda text: self.answer(text), signature, autograph=False
        )
        compiled.get_concrete_function()
        return compiled

    @abc.abstractmethod
    def answer(self, texts: Tensor) -> dict[str, Tensor]:
        """The whole `text` of texts `(B,)`, and how sure of it, in the graph."""

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """The whole texts, in order."""
        found: list[str] = []
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            some = tf.constant(texts[first : first + TEXTS_AT_ONCE])
            whole = self.compiled(some)["text"].numpy()
            found += [text.decode("utf-8", "replace") for text in whole]
        return found


class MaskedFiller(Filler):
    """A `MaskedLM`: each gap gets its likeliest token, whatever the others get."""

    def answer(self, texts: Tensor) -> dict[str, Tensor]:
        ids = self.ids(texts)
        is_gap, chances = self.chances(ids)
        best = tf.argmax(chances, axis=-1, output_type=tf.int32)  # (B, M)
        number = tf.maximum(tf.cumsum(tf.cast(is_gap, tf.int32), axis=1) - 1, 0)
        filled = tf.where(is_gap, tf.gather(best, number, batch_dims=1), ids)
        counts = tf.reduce_sum(tf.cast(is_gap, tf.int32), axis=1)
        there = tf.sequence_mask(counts, tf.shape(best)[1])
        sure = tf.where(there, tf.reduce_max(chances, axis=-1), 1.0)
        return {
            "text": self.tokens.decode(filled),
            "probability": tf.reduce_prod(sure, axis=1),
        }

    def ids(self, texts: Tensor) -> Tensor:
        """What is read of texts `(B,)`, `(B, T)`."""
        ids = self.tokens.ragged(texts, add_start=True, add_end=True)
        return ids[:, : self.length].to_tensor(PADDING)

    def chances(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Which of ids `(B, T)` are gaps, and the chances `(B, M, V)` of each gap.

        M is the most gaps of a text, at least 1; a text of fewer has others of no
        meaning after its own.
        """
        is_gap = tf.equal(ids, self.tokens.gap)
        most = tf.reduce_max(tf.reduce_sum(tf.cast(is_gap, tf.int32), axis=1))
        order = tf.argsort(tf.cast(~is_gap, tf.int32), axis=1, stable=True)
        places = order[:, : tf.maximum(most, 1)]
        logits = self.model({"tokens": ids, "positions": places}, training=False)
        allowed = allowed_tokens(self.tokens)
        allowed[END] = False
        chances = tf.nn.softmax(tf.where(allowed, tf.cast(logits, tf.float32), -np.inf))
        return is_gap, chances

    def candidates(self, text: str, count: int = 5) -> list[list[tuple[str, float]]]:
        """The likeliest pieces of each gap of a text, with their chances."""
        is_gap, chances = self.chances(self.ids(tf.constant([text])))
        gaps = int(tf.reduce_sum(tf.cast(is_gap, tf.int32)))
        values, ids = (x.numpy()[0] for x in tf.math.top_k(chances[:, :gaps], count))
        return [
            [
                (piece.replace("▁", ""), float(chance))
                for piece, chance in zip(self.tokens.pieces(row), of_row, strict=True)
            ]
            for row, of_row in zip(ids, values, strict=True)
        ]


class SpanFiller(Filler):
    """A model of two sides that was trained to restore what is hidden."""

    def __init__(self, model: Any, tokens: Tokens, length: int) -> None:
        super().__init__(model, tokens, length)
        self.tokenizer = tokens  # what a `Writer` calls it
        allowed = allowed_tokens(tokens)
        allowed[list(tokens.sentinels)] = True
        rule = decoding.AllowedTokens(lambda prefix: allowed)
        self.greedy = decoding.GreedySearch(length, START, END, PADDING, rules=[rule])

    def answer(self, texts: Tensor) -> dict[str, Tensor]:
        source = self.ids(texts)
        found = self.write(source)
        return {
            "text": self.tokens.decode(self.restored(source, found.tokens[:, 0])),
            "log_probability": found.log_probabilities[:, 0],
        }

    def ids(self, texts: Tensor) -> Tensor:
        """What is read of texts `(B,)`, `(B, S)`; sentinels in the place of gaps."""
        ids = self.tokens.ragged(texts)[:, : self.length - 1]
        rows = ids.nrows(out_type=tf.int32)
        ids = tf.concat([ids, tf.fill([rows, 1], END)], axis=1).to_tensor(PADDING)
        count = len(self.tokens.sentinels)
        if not count:
            return ids
        is_gap = tf.equal(ids, self.tokens.gap)
        number = tf.cumsum(tf.cast(is_gap, tf.int32), axis=1) - 1
        sentinel = self.tokens.sentinels.start + tf.minimum(number, count - 1)
        return tf.where(is_gap, sentinel, ids)

    def write(self, source: Tensor) -> decoding.Decoded:
        """What the model writes to sources `(B, S)`, greedily."""
        state = self.model.initial_state(source, self.greedy.max_length)
        return self.greedy.search(self.model.step, state, tf.shape(source)[0])

    def restored(self, source: Tensor, written: Tensor) -> Tensor:
        """The tokens of whole texts.

        Without sentinels that is what was written. With them each stands in the source
        where the tokens that were written after it belong.
        """
        if not len(self.tokens.sentinels):
            return written
        both = tf.concat([source, written], axis=1)
        # A span comes after its sentinel and before what follows it there.
        spans = self._span(source)
        place = tf.concat([2 * spans, 2 * self._span(written) - 1], axis=1)
        is_text = ~self._is_sentinel(both) & (both != END) & (both != PADDING)
        # What was written after no sentinel of the source belongs nowhere.
        is_text &= (place >= 0) & (place <= 2 * spans[:, -1:])
        order = tf.argsort(tf.where(is_text, place, tf.int32.max), axis=1, stable=True)
        kept = tf.where(is_text, both, PADDING)
        return tf.gather(kept, order, batch_dims=1)

    def _is_sentinel(self, ids: Tensor) -> Tensor:
        sentinels = self.tokens.sentinels
        return (ids >= sentinels.start) & (ids < sentinels.stop)

    def _span(self, ids: Tensor) -> Tensor:
        """Which span each place is in or after, from 1 on; 0 before the first."""
        number = ids - self.tokens.sentinels.start + 1
        begins = tf.where(self._is_sentinel(ids), number, 0)
        last = tf.scan(
            lambda before, now: tf.where(now > 0, now, before), tf.transpose(begins)
        )
        return tf.transpose(last)
