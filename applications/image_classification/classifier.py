"""From image files to classes, in the graph: one code for Python and SavedModel."""

from collections.abc import Iterator, Sequence

import keras
import numpy as np
import tensorflow as tf

from applications.classification import answers
from applications.images.batches import ImageData

IMAGES_AT_ONCE = 256


class Classifier:
    """A model and how images come to it.

    Args:
        model: From pixels `(B, h, w, c)`, 0..255, to logits `(B, classes)`.
        data: Names the classes and reads files.
    """

    def __init__(self, model: keras.Model, data: ImageData):
        self.model = model
        self.reader = data.reader
        self.class_names = data.class_names

    def answer(self, contents: tf.Tensor) -> dict[str, tf.Tensor]:
        """What is said of files `(B,)`, their bytes, inside the graph."""
        images = self.reader.read_batch(contents)
        return answers.answer(self.model(images, training=False), self.class_names)

    def probabilities(self, images: np.ndarray) -> np.ndarray:
        """`(n, classes)` float32 of pixels `(n, h, w, c)`."""
        logits = self.model.predict(
            images.astype("float32"), batch_size=IMAGES_AT_ONCE, verbose=0
        )
        return tf.nn.softmax(logits).numpy()

    def said(self, probabilities: np.ndarray) -> list[str]:
        """The label of each row and its probability, such as `Sneaker 0.97`."""
        return answers.said(probabilities, self.class_names)

    def describe(self, paths: Sequence[str]) -> Iterator[str]:
        """What is said of each file."""
        for start in range(0, len(paths), IMAGES_AT_ONCE):
            some = paths[start : start + IMAGES_AT_ONCE]
            images = np.stack([self.reader.read_file(path) for path in some])
            yield from self.said(self.probabilities(images))
