"""The SavedModel: sounds in, texts out, decoding inside."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from applications.audio.config import LOUDEST
from applications.audio.samples import odd_sounds, wav
from applications.errors import UserError
from applications.speech_recognition.data import SpeechData
from applications.speech_recognition.recognizer import Recognizer
from keras_attention import export as exporting

CHECKED_CLIPS = 50
ENDPOINTS = ("greedy", "beam")

Graphs = Mapping[str, Any]  # of TensorFlow

_TOLERANCE = 1e-2  # of log-probabilities of whole texts


def graphs(recognizer: Recognizer) -> Graphs:
    """The endpoints by name, each traced once: a search takes seconds."""
    made = {}
    for search in ENDPOINTS:
        made[search] = tf.function(
            partial(recognizer.answer, search=search),
            input_signature=recognizer.reader.signature,
            autograph=False,  # loops are the search's own
        )
        made[search].get_concrete_function()
    return made


def export(endpoints: Graphs, model: keras.Model, directory: Path) -> None:
    """Write the endpoints `greedy` (the default) and `beam`.

    Both take `audio` `(B,)`, the bytes of WAV files of 16-bit PCM, and return `text`
    `(B,)` and its `log_probability`.
    """
    traced = {name: (graph, None) for name, graph in endpoints.items()}
    exporting.write(directory, traced, [model])


def check(
    directory: Path, data: SpeechData, endpoints: Graphs
) -> dict[str, dict[str, float]]:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Returns:
        By how much log-probabilities differ, at most.

    Raises:
        UserError: The texts differ.
    """
    stored = data.stored("test", CHECKED_CLIPS)
    clips = [wav(clip / LOUDEST, stored.rate) for clip in stored.samples]
    batches = [clips[:1], clips[1:] + odd_sounds()]
    alone = exporting.ask_alone(directory, batches, list(ENDPOINTS))
    count, largest = sum(map(len, batches)), {}
    for search in ENDPOINTS:
        here = [endpoints[search](tf.constant(batch)) for batch in batches]
        texts = [text.decode() for one in here for text in one["text"].numpy()]
        scores = np.concatenate([one["log_probability"] for one in here])
        there = {
            name: [value for one in alone[search] for value in one[name]]
            for name in ("text", "log_probability")
        }
        gap = float(np.abs(scores - there["log_probability"]).max())
        different = sum(x != y for x, y in zip(texts, there["text"], strict=True))
        if different or not gap < _TOLERANCE:
            raise UserError(
                f"The exported {search} endpoint answers otherwise: {different} of "
                f"{count} texts, and log-probabilities that differ by up to {gap:.1e}."
            )
        largest[search] = gap
        print(f"{search}: SavedModel alone equals this process on {count} clips")
    return {"largest_difference": largest}
