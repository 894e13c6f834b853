"""Texts to padded token ids and back, the same in Python, tf.data and a SavedModel."""

from collections.abc import Iterable, Sequence
from typing import Any

import keras_hub
import tensorflow as tf

from applications.text.vocabulary import END, PADDING, START

_BYTE_PIECES = {f"<0x{byte:02X}>": byte for byte in range(256)}


class SubwordTokenizer:
    """A trained vocabulary at work, inside TensorFlow graphs or outside.

    Call `keras.utils.set_random_seed` before, never after making one: it empties
    TensorFlow's resources, this tokenizer's among them. A SavedModel that uses it
    must track `layer`: `archive.track(tokenizer.layer)`; where it is loaded,
    `import tensorflow_text` comes first.

    Args:
        model: The bytes that `vocabulary.train` returned.

    Attributes:
        model: The same bytes.
        layer: The KerasHub layer that holds the TensorFlow resource.
        vocabulary_size: The number of ids.
        start: Id of the start token.
        end: Id of the end token.
    """

    start, end = START, END

    def __init__(self, model: bytes):
        self.model = model
        self.layer = keras_hub.tokenizers.SentencePieceTokenizer(proto=model)
        self.layer.built = True  # else Keras's export refuses to track it
        self.vocabulary_size = self.layer.vocabulary_size()
        self._vocabulary = self.layer.get_vocabulary()
        self._tokenize, self._detokenize = in_graph(self.layer)

    def ragged(
        self,
        texts: tf.Tensor | Sequence[str],
        add_start: bool = False,
        add_end: bool = False,
        max_length: int | None = None,
    ) -> tf.RaggedTensor:
        """Return the int32 ids of a batch of texts, each row as long as it is.

        Args:
            texts: Strings, `(B,)`. Many at once cost far less than one by one.
            add_start: Whether a row begins with the start token.
            add_end: Whether a row closes with the end token.
            max_length: The most ids a row may have, markers counted. Longer texts
                lose ids from their end; the end token stays.
        """
        ids = self._tokenize(tf.convert_to_tensor(texts, tf.string))
        if max_length is not None:
            ids = ids[:, : max_length - add_start - add_end]
        rows = ids.nrows(out_type=tf.int32)
        before = [tf.fill([rows, 1], START)] if add_start else []
        after = [tf.fill([rows, 1], END)] if add_end else []
        return tf.concat([*before, ids, *after], axis=1)

    def encode(
        self,
        texts: tf.Tensor | Sequence[str],
        add_start: bool = False,
        add_end: bool = False,
        max_length: int | None = None,
    ) -> tf.Tensor:
        """Return `ragged`'s ids padded to `(B, L)`, `L` the longest row, at least 1."""
        ids = self.ragged(texts, add_start, add_end, max_length).to_tensor(PADDING)
        missing = tf.maximum(1 - tf.shape(ids)[1], 0)
        return tf.pad(ids, [[0, 0], [0, missing]], constant_values=PADDING)

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """Return the texts of padded ids `(B, L)`, strings `(B,)`.

        A text ends before the first end token; padding and start tokens are skipped.
        """
        ids = tf.cast(ids, tf.int32)
        is_end = tf.cast(tf.equal(ids, END), tf.int32)
        before_end = tf.equal(tf.cumsum(is_end, axis=1), 0)
        is_text = tf.not_equal(ids, PADDING) & tf.not_equal(ids, START)
        return self._detokenize(tf.ragged.boolean_mask(ids, before_end & is_text))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return one readable label per id, as for the ticks of a heatmap.

        `▁` marks the beginning of a word. Where a character is spelled in bytes, its
        first id shows it and the others show nothing.
        """
        labels = [self._vocabulary[int(number)] for number in ids]
        position = 0
        while position < len(labels):
            length = _character_length(labels, position)
            if length:
                spelled = [_BYTE_PIECES[label] for label in labels[position:][:length]]
                character = bytes(spelled).decode("utf-8")
                labels[position : position + length] = [character] + [""] * (length - 1)
            position += max(length, 1)
        return labels


def _character_length(labels: list[str], position: int) -> int:
    """Return how many byte labels from `position` on spell one character, 0 if none."""
    for length in range(1, 5):
        spelled = [_BYTE_PIECES.get(label) for label in labels[position:][:length]]
        if len(spelled) < length or None in spelled:
            return 0
        try:
            bytes(spelled).decode("utf-8")
        except UnicodeDecodeError:
            continue
        return length
    return 0


def in_graph(layer: Any) -> tuple[Any, Any]:
    """`tokenize` and `detokenize` of a KerasHub tokenizer, for many texts at once.

    In a graph the layer always takes its TensorFlow path.
    """
    return (
        tf.function(layer.tokenize, input_signature=[tf.TensorSpec([None], tf.string)]),
        tf.function(
            layer.detokenize,
            input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)],
        ),
    )
