"""From texts to padded subword ids, in the graph: one code for Python and SavedModel.

Case is dropped in every script, white space of any kind and HTML's line break are a
space, and bytes that are not UTF-8 become replacement characters; the SentencePiece
model then brings texts to NFC and spells characters that training had not in bytes.
Nothing else is cut off: signs, marks and emoji stay, and no text can spell an id that
is not a piece of text.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf

from applications.text.tokenizer import SubwordTokenizer
from applications.text.vocabulary import PADDING

# White space of any kind, and HTML's line break: film reviews from the web have it.
_BLANKS = r"(?:[\s\p{Z}]|<br\s*/?>)+"


class TextReader:
    """A vocabulary and the most ids of a text.

    Args:
        vocabulary: The bytes that `vocabulary.train` returned for `cleaned` texts.
        max_length: Of a longer text the first ids are read.
    """

    def __init__(self, vocabulary: bytes, max_length: int):
        self.tokenizer = SubwordTokenizer(vocabulary)
        self.max_length = max_length

    def whole(self, texts: tf.Tensor | Sequence[str]) -> tf.RaggedTensor:
        """All ids of texts `(B,)`, however many."""
        return self.tokenizer.ragged(cleaned(texts))

    def ids(self, texts: tf.Tensor | Sequence[str]) -> tf.Tensor:
        """Ids `(B, T)` of texts `(B,)`; a blank text has padding alone, T is 1 or more.

        T is that of the longest text, `max_length` at most.
        """
        return self.tokenizer.encode(cleaned(texts), max_length=self.max_length)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """A readable label for each id; `▁` begins a word."""
        return self.tokenizer.pieces(ids)

    def readable(self, texts: Sequence[str]) -> np.ndarray:
        """Whether each text holds something to read, `(n,)`: HTML alone does not."""
        return self.whole(texts).row_lengths().numpy() > 0


def is_blank(ids: tf.Tensor) -> tf.Tensor:
    """Whether texts of these ids `(B, T)` hold nothing to read, `(B,)`."""
    return tf.reduce_all(tf.equal(ids, PADDING), axis=1)


def cleaned(texts: tf.Tensor | Sequence[str]) -> tf.Tensor:
    """What the vocabulary is trained on and applied to, strings `(B,)`."""
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
    texts = tf.strings.lower(texts, encoding="utf-8")
    return tf.strings.regex_replace(texts, _BLANKS, " ")


def cleaned_texts(texts: Sequence[str]) -> list[str]:
    """`cleaned` of any number of texts, as Python strings."""
    found: np.ndarray = cleaned(tf.constant(texts, tf.string)).numpy()
    return [text.decode("utf-8") for text in found]
