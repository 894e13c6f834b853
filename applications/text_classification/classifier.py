"""From texts to classes, in the graph: one code for Python and SavedModel."""

from collections.abc import Iterator, Sequence

import keras
import numpy as np
import tensorflow as tf

from applications.classification import answers
from applications.text_classification.reader import TextReader, is_blank

TEXTS_AT_ONCE = 128


class Classifier:
    """A model and how texts come to it.

    A blank text has no word to judge by: its label is empty, and its probabilities are
    what the model says of nothing.

    Args:
        model: From ids `(B, T)` to logits `(B, C)`.
        reader: From texts to ids.
        class_names: The C classes.
    """

    def __init__(
        self, model: keras.Model, reader: TextReader, class_names: Sequence[str]
    ):
        self.model, self.reader = model, reader
        self.class_names = tuple(class_names)
        self._compiled = tf.function(
            lambda texts: self.model(self.reader.ids(texts), training=False),
            input_signature=[tf.TensorSpec([None], tf.string)],
            autograph=False,
        )

    def answer(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
        """What is said of texts `(B,)`, inside the graph."""
        ids = self.reader.ids(texts)
        found = answers.answer(self.model(ids, training=False), self.class_names)
        return {**found, "label": tf.where(is_blank(ids), "", found["label"])}

    def logits(self, texts: Sequence[str]) -> np.ndarray:
        """`(n, C)` float32 of any number of texts, in their order."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = np.zeros((len(texts), len(self.class_names)), "float32")
        for start in range(0, len(order), TEXTS_AT_ONCE):
            rows = order[start : start + TEXTS_AT_ONCE]
            found[rows] = self._compiled(tf.constant([texts[row] for row in rows]))
        return found

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """`(n, C)` float32."""
        return tf.nn.softmax(self.logits(texts)).numpy()

    def labels(self, texts: Sequence[str], probabilities: np.ndarray) -> list[str]:
        """The likeliest class of each text, empty for a blank one."""
        best = probabilities.argmax(axis=1)
        return [
            self.class_names[label] if readable else ""
            for label, readable in zip(best, self.reader.readable(texts), strict=True)
        ]

    def describe(self, texts: Sequence[str]) -> Iterator[str]:
        """What is said of each text, such as `positive 0.97`; a blank stays blank."""
        probabilities = self.probabilities(texts)
        lines = answers.said(probabilities, self.class_names)
        labels = self.labels(texts, probabilities)
        yield from (
            line if label else "" for line, label in zip(lines, labels, strict=True)
        )
