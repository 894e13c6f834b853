"""From images to captions, in the graph: one code for Python and SavedModel."""

from collections.abc import Iterable
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from applications.image_captioning.data import CaptionData
from applications.text.vocabulary import END, PADDING, START, UNKNOWN
from keras_attention.decoding import (
    AllowedTokens,
    BeamSearch,
    Decoded,
    GreedySearch,
    Search,
)

_FEWEST = 2  # tokens of a caption: a word and the end


class Caption(NamedTuple):
    """What is said of one image.

    Attributes:
        words: Those of the caption.
        log_probability: Of all of them and the end.
        scores: `(N, words, places)` float32, where each head looked at each word;
            `None` of a model without attention.
    """

    words: tuple[str, ...]
    log_probability: float
    scores: np.ndarray | None

    @property
    def text(self) -> str:
        return " ".join(self.words)


class Captioner:
    """A model, its words and its searches.

    Args:
        model: A `models.ImageCaptioner`.
        data: Has the words and the reader, and the settings of the searches.
    """

    def __init__(self, model: keras.Model, data: CaptionData):
        self.model = model
        self.words, self.reader = data.words, data.reader
        settings = data.config.search
        tokens = (data.config.data.max_length, START, END, PADDING)
        rules = {"min_length": _FEWEST, "rules": [_never_unknown(self.words)]}
        self.searches: dict[str, Search] = {
            "greedy": GreedySearch(*tokens, **rules),
            "beam": BeamSearch(
                *tokens,
                num_beams=settings.num_beams,
                length_penalty=settings.length_penalty,
                **rules,
            ),
        }
        self.has_attention = has_attention(model)
        self._compiled: dict[str, tf.types.experimental.PolymorphicFunction] = {}

    # -------------------------------------------------------------- inside the graph

    def search(self, images: tf.Tensor, search: str, scores: bool = False) -> Decoded:
        """The best captions of images `(B, h, w, c)`, 0..255.

        With `scores` what is kept is `(B, 1, N, T, places)`.
        """
        strategy = self.searches[search]
        state = self.model.initial_state(images, strategy.max_length, scores)
        keep = (lambda state: state["attention_scores"]) if scores else None
        count = tf.shape(images)[0]
        return strategy.search(self.model.step, state, count, keep=keep)

    def caption(self, contents: tf.Tensor, search: str) -> dict[str, tf.Tensor]:
        """What is said of files `(B,)`, their bytes."""
        found = self.search(self.reader.read_batch(contents), search)
        return {
            "caption": self.words.decode(found.tokens[:, 0]),
            "log_probability": found.log_probabilities[:, 0],
        }

    def attend(self, contents: tf.Tensor) -> dict[str, tf.Tensor]:
        """Where each word of the greedy caption looked, `(B, N, T, rows, columns)`.

        The words are `(B, T)`; from the end on they are empty and their maps 0.
        """
        found = self.search(self.reader.read_batch(contents), "greedy", scores=True)
        words = self.words.spell(found.tokens[:, 0])
        scores = tf.cast(found.kept[:, 0], tf.float32)
        scores = tf.where(words[:, None, :, None] != "", scores, 0.0)
        shape = tf.concat([tf.shape(scores)[:3], self.model.grid], axis=0)
        return {
            "caption": self.words.decode(found.tokens[:, 0]),
            "words": words,
            "attention_scores": tf.reshape(scores, shape),
        }

    # -------------------------------------------------------------------- from Python

    def __call__(
        self, batches: Iterable[tf.Tensor | np.ndarray], search: str = "beam"
    ) -> list[Caption]:
        """Captions of all images of batches `(B, h, w, c)`, in order."""
        found: list[Caption] = []
        for images in batches:
            columns = [x.numpy() for x in self._graph(search)(images)]
            found += [self._caption(*row) for row in zip(*columns, strict=True)]
        return found

    def _graph(self, search: str):
        """The search, traced once for any number of images."""
        if search not in self._compiled:
            shape = (None, *self.reader.image_shape)
            self._compiled[search] = tf.function(
                lambda images: self._found(images, search),
                input_signature=[tf.TensorSpec(shape, tf.uint8)],
                autograph=False,  # loops are the search's own
            )
        return self._compiled[search]

    def _found(self, images: tf.Tensor, search: str) -> tuple[tf.Tensor, ...]:
        images = tf.cast(images, tf.float32)
        found = self.search(images, search, scores=self.has_attention)
        answer = (self.words.spell(found.tokens[:, 0]), found.log_probabilities[:, 0])
        if not self.has_attention:
            return answer
        return (*answer, tf.cast(found.kept[:, 0], tf.float32))

    def _caption(
        self, spelled: np.ndarray, probability: float, scores: np.ndarray | None = None
    ) -> Caption:
        words = tuple(word.decode() for word in spelled if word)
        if scores is not None:
            scores = scores[:, : len(words)]
        return Caption(words, float(probability), scores)


def has_attention(model: keras.Model) -> bool:
    """Whether the words of a captioner look at places."""
    config = model.get_config()
    options = config["decoder_options"] or {}
    return config["decoder"] != "gru" or options.get("attention") != "none"


def _never_unknown(words) -> AllowedTokens:
    """Forbids what is no word: padding, the start, and the unknown word."""
    tokens = np.arange(words.vocabulary_size)
    allowed = ~np.isin(tokens, (PADDING, START, UNKNOWN))
    return AllowedTokens(lambda prefix: allowed)
