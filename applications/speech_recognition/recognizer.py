"""From frames to texts, in the graph: one code for Python and SavedModel."""

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from applications.audio.clips import model_inputs, padded
from applications.speech_recognition.characters import BLANK
from applications.speech_recognition.data import SpeechData
from applications.text.vocabulary import END, PADDING, START
from keras_attention.decoding import (
    AllowedTokens,
    BeamSearch,
    Decoded,
    GreedySearch,
    JointCTC,
    ctc_beam_search,
    ctc_greedy_search,
)

CLIPS_AT_ONCE = 32

CTC_GREEDY = "ctc_greedy"


class Recognizer:
    """A model, how clips come to it, and its searches.

    `"greedy"` and `"beam"` go by all that a model has: by CTC, by its decoder, or by
    both scores together. `"ctc_greedy"` takes what CTC alone finds most probable at
    each place.

    Args:
        model: A `models.SpeechRecognizer`.
        data: Has the reader, the characters and the settings of the searches.

    Attributes:
        searches: The names of those that the model has.
    """

    def __init__(self, model: keras.Model, data: SpeechData):
        self.model = model
        self.reader, self.characters = data.reader, data.characters
        self.settings = data.config.search
        self.searches: tuple[str, ...] = ("greedy", "beam")
        if model.objective == "joint":
            self.searches = (*self.searches, CTC_GREEDY)
        self._compiled: dict[str, tf.types.experimental.PolymorphicFunction] = {}

    # -------------------------------------------------------------- inside the graph

    def search(self, frames: tf.Tensor, lengths: tf.Tensor, search: str) -> Decoded:
        """The best texts of padded frames `(B, T, F)`, of which `(B,)` are real."""
        inputs = model_inputs(frames, lengths)
        given = (inputs["frames"], inputs["padding_mask"])
        if self.model.objective == "ctc" or search == CTC_GREEDY:
            return self._by_ctc(*given, search)
        decodable, strategy = self._decodable(), self._strategy(search)
        state = decodable.initial_state(*given, max_length=strategy.max_length)
        return strategy.search(decodable.step, state, tf.shape(frames)[0])

    def answer(self, contents: tf.Tensor, search: str) -> dict[str, tf.Tensor]:
        """What is said in WAV files `(B,)`, their bytes."""
        return self._said(*self.reader.read_batch(contents), search)

    def _by_ctc(self, frames: tf.Tensor, mask: tf.Tensor, search: str) -> Decoded:
        memory, places = self.model.encode(frames, mask)
        logits = self.model.ctc_logits(memory)
        no_text = (START, END)
        if search == "beam":
            beams = self.settings.num_beams
            return ctc_beam_search(logits, places, beams, without=no_text)
        return ctc_greedy_search(logits, places, without=no_text)

    def _decodable(self):
        """What predicts the next character: the model, alone or with CTC's scores."""
        weight = self.settings.ctc_weight
        if self.model.objective == "joint" and weight:
            return JointCTC(self.model, weight, START, END, BLANK)
        return self.model

    def _strategy(self, search: str) -> GreedySearch | BeamSearch:
        tokens = (self.settings.max_length, START, END, PADDING)
        rules = [_characters_and_end(self.characters.vocabulary_size)]
        if search == "greedy":
            return GreedySearch(*tokens, rules=rules)
        return BeamSearch(
            *tokens,
            num_beams=self.settings.num_beams,
            length_penalty=self.settings.length_penalty,
            rules=rules,
        )

    def _said(
        self, frames: tf.Tensor, lengths: tf.Tensor, search: str
    ) -> dict[str, tf.Tensor]:
        found = self.search(frames, lengths, search)
        return {
            "text": self.characters.decode(found.tokens[:, 0]),
            "log_probability": found.log_probabilities[:, 0],
        }

    # -------------------------------------------------------------------- from Python

    def __call__(self, clips: Sequence[np.ndarray], search: str = "beam") -> list[str]:
        """What is said in any number of clips, their frames, in their order."""
        order = sorted(range(len(clips)), key=lambda i: len(clips[i]))
        texts = [""] * len(clips)
        for start in range(0, len(order), CLIPS_AT_ONCE):
            rows = order[start : start + CLIPS_AT_ONCE]
            found = self._graph(search)(*padded([clips[row] for row in rows]))
            for row, text in zip(rows, found["text"].numpy(), strict=True):
                texts[row] = text.decode()
        return texts

    def memory(self, clips: Sequence[np.ndarray]) -> np.ndarray:
        """What the encoder makes of clips, their frames, `(B, S, D)`."""
        inputs = model_inputs(*padded(clips))
        memory, _ = self.model.encode(inputs["frames"], inputs["padding_mask"])
        return memory.numpy()

    def _graph(self, search: str) -> tf.types.experimental.PolymorphicFunction:
        """The search, traced once for clips of any number and length."""
        if search not in self._compiled:
            signature = [
                tf.TensorSpec([None, None, self.reader.frame_size], tf.float32),
                tf.TensorSpec([None], tf.int32),
            ]
            self._compiled[search] = tf.function(
                lambda frames, lengths: self._said(frames, lengths, search),
                input_signature=signature,
                autograph=False,  # loops are the search's own
            )
        return self._compiled[search]


def _characters_and_end(vocabulary_size: int) -> AllowedTokens:
    """What a decoder may write: neither padding nor the start."""
    allowed = ~np.isin(np.arange(vocabulary_size), (PADDING, START))
    return AllowedTokens(lambda prefix: allowed)
