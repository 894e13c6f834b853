"""The SavedModel: sounds or frames in, labels and probabilities out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from applications.audio.clips import padded
from applications.audio.config import LOUDEST
from applications.audio.readers import SoundReader
from applications.audio.samples import odd_sounds, wav
from applications.classification import answers
from applications.keyword_spotting.classifier import Classifier
from applications.keyword_spotting.data import ClipData
from keras_attention import export as exporting

CHECKED_CLIPS = 100


def export(classifier: Classifier, directory: Path) -> None:
    """Write the endpoint `classify`, also `serving_default`.

    A model of sounds takes `audio` `(B,)`, the bytes of WAV files of 16-bit PCM. A
    model of frames takes `frames` `(B, T, F)` and `lengths` `(B,)`, how many of them
    each clip has. Both return `label`, its `probability`, and the `probabilities`
    `(B, C)`.
    """
    endpoints = {answers.ENDPOINT: (classifier.answer, classifier.reader.signature)}
    exporting.write(directory, endpoints, [classifier.model])


def check(directory: Path, data: ClipData, classifier: Classifier) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Raises:
        UserError: The answers differ.
    """
    clips, rate = data.stored("test", CHECKED_CLIPS)
    batches: list[Any]
    if isinstance(classifier.reader, SoundReader):
        files = [wav(clip / LOUDEST, rate) for clip in clips]
        batches = [files[:1], files[1:] + odd_sounds()]
        calls = [(tf.constant(batch),) for batch in batches]
    else:
        batches = [_named(clips[:1]), _named(clips[1:] or clips)]
        calls = [tuple(map(tf.constant, batch.values())) for batch in batches]
    ask = tf.function(classifier.answer, autograph=False, reduce_retracing=True)
    found = [ask(*call) for call in calls]
    labels = [label.decode() for one in found for label in one["label"].numpy()]
    probabilities = np.concatenate([one["probabilities"] for one in found])
    answers.check_alone(directory, batches, labels, probabilities, "clips")


def _named(clips: Sequence[np.ndarray]) -> Mapping[str, np.ndarray]:
    """Clips of frames as the endpoint takes them."""
    frames, lengths = padded(clips)
    return {"frames": frames, "lengths": lengths}
