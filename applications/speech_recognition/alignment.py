"""Where in time each character of a text belongs: by attention, and by CTC."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from applications.audio.clips import model_inputs, padded
from applications.speech_recognition.characters import teacher_forced
from applications.speech_recognition.recognizer import CLIPS_AT_ONCE, Recognizer
from keras_attention import blocks, interpretation, losses

CTC = "CTC"


def head(number: int) -> str:
    """What the scores of a head of the decoder are called."""
    return f"attention head {number}"


def alignments(
    recognizer: Recognizer, clips: Sequence[np.ndarray], texts: Sequence[str]
) -> Iterator[dict[str, np.ndarray]]:
    """For each clip and its text `(U, S)` by name: heads of the decoder, and CTC.

    Row `u` of a head is what was attended while character `u` was predicted; that of
    CTC how probable it is that each place says the character. CTC is left out where the
    text cannot fit the places.

    Args:
        recognizer: Of the model.
        clips: Frames `(T, F)` each.
        texts: As they were recognized, or as they are right.
    """
    model = recognizer.model
    for start in range(0, len(clips), CLIPS_AT_ONCE):
        some = clips[start : start + CLIPS_AT_ONCE]
        spelled = [
            recognizer.characters.encode(tf.constant(text)).numpy()
            for text in texts[start : start + CLIPS_AT_ONCE]
        ]
        given = model_inputs(*padded(some))
        inputs = (given["frames"], given["padding_mask"])
        scores = logits = None
        if model.objective != "ctc":
            scores = _attended(model, inputs, spelled)
        if model.objective != "attention":
            memory, _ = model.encode(*inputs)
            logits = model.ctc_logits(memory).numpy()
        for row, ids in enumerate(spelled):
            places = blocks.ConvolutionalSubsampling.places(len(some[row]))
            found = {}
            if scores is not None:
                for number, values in enumerate(scores[row]):
                    found[head(number)] = values[: len(ids), :places]
            if logits is not None:
                found |= _ctc(logits[row, :places], ids)
            yield found


def diagonalities(
    recognizer: Recognizer, clips: Sequence[np.ndarray], texts: Sequence[str]
) -> dict[str, float]:
    """How near alignments keep to the diagonal, by their names: means over clips.

    `even` is what attention without any order would have. Of texts of one character
    nothing can be said; without any others the result is empty.
    """
    measured: dict[str, list[float]] = {}
    for found in alignments(recognizer, clips, texts):
        if found:
            found["even"] = np.ones_like(next(iter(found.values())))
        for name, values in found.items():
            own = float(interpretation.diagonality(values))
            if not math.isnan(own):
                measured.setdefault(name, []).append(own)
    return {name: float(np.mean(values)) for name, values in measured.items()}


def _attended(
    model: Any, inputs: tuple[tf.Tensor, tf.Tensor], spelled: Sequence[np.ndarray]
) -> np.ndarray:
    """The scores `(B, N, U, S)` of the decoder while it is given the texts."""
    ids = tf.ragged.constant([one.tolist() for one in spelled], tf.int32)
    target, _ = teacher_forced(ids.to_tensor(), ids.row_lengths())
    scores = model.cross_attention_scores(*inputs, target)
    return tf.cast(scores, tf.float32).numpy()


def _ctc(logits: np.ndarray, ids: np.ndarray) -> dict[str, np.ndarray]:
    (fits,) = losses.fits_ctc(ids[None], [len(ids)], [len(logits)])
    if not fits:
        return {}
    return {CTC: interpretation.ctc_alignment(logits, ids.tolist())}
