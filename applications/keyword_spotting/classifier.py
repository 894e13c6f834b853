"""From clips to words, in the graph: one code for Python and SavedModel."""

from collections.abc import Iterator, Sequence

import keras
import numpy as np
import tensorflow as tf

from applications.audio.clips import model_inputs, padded
from applications.audio.readers import ClipReader
from applications.classification import answers

CLIPS_AT_ONCE = 128


class Classifier:
    """A model and how clips come to it.

    Args:
        model: From frames and mask to logits `(B, C)`.
        reader: From clips to frames.
        class_names: The C classes.
    """

    def __init__(
        self, model: keras.Model, reader: ClipReader, class_names: Sequence[str]
    ):
        self.model, self.reader = model, reader
        self.class_names = tuple(class_names)
        signature = [
            tf.TensorSpec([None, None, reader.frame_size], tf.float32),
            tf.TensorSpec([None], tf.int32),
        ]
        self._compiled = tf.function(
            self._forward, input_signature=signature, autograph=False
        )

    def answer(self, *inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        """What is said of clips as they are served, inside the graph."""
        logits = self._forward(*self.reader.read_batch(*inputs))
        return answers.answer(logits, self.class_names)

    def logits(self, clips: Sequence[np.ndarray]) -> np.ndarray:
        """`(n, C)` float32 of any number of clips' frames, in their order."""
        order = sorted(range(len(clips)), key=lambda i: len(clips[i]))
        found = np.zeros((len(clips), len(self.class_names)), "float32")
        for start in range(0, len(order), CLIPS_AT_ONCE):
            rows = order[start : start + CLIPS_AT_ONCE]
            found[rows] = self._compiled(*padded([clips[row] for row in rows]))
        return found

    def describe(self, paths: Sequence[str]) -> Iterator[str]:
        """What is said of each file, such as `seven 0.97`."""
        for start in range(0, len(paths), CLIPS_AT_ONCE):
            some = paths[start : start + CLIPS_AT_ONCE]
            yield from self.said([self.reader.read_file(path) for path in some])

    def said(self, clips: Sequence[np.ndarray]) -> list[str]:
        """The same of frames."""
        probabilities = tf.nn.softmax(self.logits(clips)).numpy()
        return answers.said(probabilities, self.class_names)

    def _forward(self, frames: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        return self.model(model_inputs(frames, lengths), training=False)
