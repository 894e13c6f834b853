"""From a beginning to its continuation: one code for Python and SavedModel."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.language_modeling.presets import DecodeConfig
from applications.language_modeling.tokens import Tokens
from applications.text.vocabulary import PADDING
from keras_attention import decoding

Tensor = Any

_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


class Prompts(NamedTuple):
    """Beginnings as they are read.

    Attributes:
        ids: `(B, P)`, the start token first where nothing is cut off.
        lengths: `(B,)`, how many of them count.
    """

    ids: Tensor
    lengths: Tensor


class Continuation:
    """A causal model, its tokens and its searches.

    Args:
        model: Decodable causal model.
        tokens: Of its texts.
        decode: How to search. A number out of its range is a `ValueError`.
        length: Tokens that the model reads at most: of a longer beginning the last
            ones count, so that the continuation has room.
    """

    def __init__(
        self, model: Any, tokens: Tokens, decode: DecodeConfig, length: int
    ) -> None:
        self.model, self.tokens, self.decode = model, tokens, decode
        self.room = length - decode.max_length
        self.searches = searches(decode, tokens)
        self._compiled: dict[str, Any] = {}

    # -------------------------------------------------------------- inside the graph

    def prompts(self, texts: Tensor) -> Prompts:
        """What is read of beginnings `(B,)`."""
        ids = self.tokens.ragged(texts, add_start=True)[:, -self.room :]
        return Prompts(ids.to_tensor(PADDING), tf.cast(ids.row_lengths(), tf.int32))

    def search(
        self, prompts: Prompts, search: str, seed: Tensor = None, step: Any = None
    ) -> decoding.Decoded:
        """The best continuations; `step` stands in for that of the model."""
        strategy = self.searches[search]
        position = tf.reduce_min(prompts.lengths) - 1
        state = self.model.initial_state(prompts.ids, strategy.max_length, position)
        return strategy.search(
            step or self.model.step,
            state,
            prompt=prompts.ids,
            prompt_lengths=prompts.lengths,
            prompt_read=state["position"],
            seed=seed if search == "sample" else None,
        )

    def answer(self, texts: Tensor, search: str, seed: Tensor = None) -> dict:
        """Continuations of texts `(B,)`, and the texts with them."""
        prompts = self.prompts(texts)
        found = self.search(prompts, search, seed)
        added = self.added(prompts, found.tokens[:, 0])
        return {
            "continuation": added,
            "text": tf.strings.join([texts, added]),
            "log_probability": found.log_probabilities[:, 0],
        }

    def added(self, prompts: Prompts, tokens: Tensor) -> Tensor:
        """What new tokens `(B, L)` say after their prompts, strings `(B,)`.

        A piece knows whether a blank stands before it only beside the one before.
        """
        read = tf.RaggedTensor.from_tensor(prompts.ids, lengths=prompts.lengths)
        whole = tf.concat([read, tf.RaggedTensor.from_tensor(tokens)], axis=1)
        before = self.tokens.decode(prompts.ids)
        after = self.tokens.decode(whole.to_tensor(PADDING))
        start = tf.minimum(tf.strings.length(before), tf.strings.length(after))
        return tf.strings.substr(after, start, tf.strings.length(after) - start)

    # -------------------------------------------------------------------- from Python

    def compiled(self, search: str) -> Any:
        """`answer` by one of the searches, traced once: of `text`, and of a `seed`."""
        if search not in self._compiled:
            function, signature = self._asked(search)
            # Loops are the search's own.
            compiled = tf.function(function, signature, autograph=False)
            compiled.get_concrete_function()
            self._compiled[search] = compiled
        return self._compiled[search]

    def _asked(self, search: str) -> tuple[Any, list[tf.TensorSpec]]:
        texts = tf.TensorSpec([None], tf.string, name="text")
        if search != "sample":
            return lambda text: self.answer(text, search), [texts]
        seed = tf.TensorSpec([], tf.int32, name="seed")
        return lambda text, seed: self.answer(text, search, seed), [texts, seed]

    def __call__(
        self, texts: Sequence[str], search: str, seed: int | None = None
    ) -> list[str]:
        """The continuations of texts, searched together."""
        given = [tf.constant(texts)]
        if search == "sample":
            given.append(tf.constant(self.decode.seed if seed is None else seed))
        found = self.compiled(search)(*given)["continuation"]
        return [text.decode("utf-8", "replace") for text in found.numpy()]


def searches(decode: DecodeConfig, tokens: Tokens) -> dict[str, decoding.Search]:
    """The searches by name, with the rules that the settings ask for."""
    common = {
        "max_length": decode.max_length,
        "start_token": tokens.start,
        "end_token": tokens.end,
        "pad_token": tokens.padding,
        "min_length": decode.min_length,
        "rules": rules(decode, tokens),
    }
    return {
        "greedy": decoding.GreedySearch(**common),
        "sample": decoding.SamplingSearch(
            **common,
            temperature=decode.temperature,
            top_k=decode.top_k,
            top_p=decode.top_p,
            min_p=decode.min_p,
        ),
        "beam": decoding.BeamSearch(
            **common, num_beams=decode.num_beams, length_penalty=decode.length_penalty
        ),
    }


def rules(decode: DecodeConfig, tokens: Tokens) -> list[decoding.Rule]:
    """No marker but the end, no character that is forbidden, and less repetition."""
    allowed = allowed_tokens(tokens, decode.without)
    found: list[decoding.Rule] = [decoding.AllowedTokens(lambda prefix: allowed)]
    if decode.no_repeat_ngram:
        found.append(decoding.NoRepeatNGrams(decode.no_repeat_ngram, with_prompt=True))
    if decode.repetition_penalty != 1:
        found.append(decoding.RepetitionPenalty(decode.repetition_penalty))
    return found


def allowed_tokens(tokens: Tokens, without: str = "") -> np.ndarray:
    """Which tokens may be written, `(V,)` bool: no markers, none with such characters.

    Args:
        tokens: All of them.
        without: Forbidden characters; a blank stands for those between words. Of a
            character that is spelled in several bytes the last one is forbidden, and
            so are others that end in it.
    """
    pieces = tokens.pieces(range(tokens.vocabulary_size))
    characters = {*without, *without.replace(" ", "▁").replace("\n", "⏎")}
    last_bytes = {f"<0x{char.encode('utf-8', 'replace')[-1]:02X}>" for char in without}
    allowed = np.array(
        [
            # Such a label is a byte of some character, whatever it is spelled with.
            piece not in last_bytes
            if _BYTE.fullmatch(piece)
            else not characters & set(piece)
            for piece in pieces
        ]
    )
    allowed[[i for i in tokens.special if i != tokens.end]] = False
    return allowed
