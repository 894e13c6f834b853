"""Whole words as tokens: for short texts whose words are parted by blanks."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf

from applications.text.vocabulary import END, PADDING, START, UNKNOWN

_FIRST = max(PADDING, START, END, UNKNOWN) + 1  # id of the most frequent word


class WordVocabulary:
    """The words of a training split, and texts as their ids and back.

    Ids 0 to 3 are padding, start, end and unknown, as those of subwords. Texts come
    normalized: what parts two words is a blank, and nothing else is cut off.

    Args:
        words: Each once; their ids follow from 4 on.

    Attributes:
        words: The same.
        vocabulary_size: The number of ids.
    """

    def __init__(self, words: Sequence[str]):
        self.words = tuple(words)
        self.vocabulary_size = _FIRST + len(self.words)
        self._ids = {word: number for number, word in enumerate(self.words, _FIRST)}
        self._labels = ("", "", "", "[?]", *self.words)

    @classmethod
    def of(cls, texts: Iterable[str], min_count: int = 1) -> "WordVocabulary":
        """The words that stand `min_count` times or more in texts, the frequent first.

        Examples:
        >>> WordVocabulary.of(["a red car", "a cat"]).words
        ('a', 'car', 'cat', 'red')
        """
        counts = Counter(word for text in texts for word in text.split())
        kept = [word for word in counts if counts[word] >= min_count]
        return cls(sorted(kept, key=lambda word: (-counts[word], word)))

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def encode(self, texts: Sequence[str], max_length: int) -> np.ndarray:
        """Ids of texts, int32 `(n, max_length + 2)`: start, words, end, padding.

        A text of more than `max_length` words is cut, and has no end.
        """
        ids = np.full((len(texts), max_length + 2), PADDING, np.int32)
        ids[:, 0] = START
        for row, text in zip(ids, texts, strict=True):
            words = text.split()
            known = [self._ids.get(word, UNKNOWN) for word in words[:max_length]]
            known += [END] if len(words) <= max_length else []
            row[1 : 1 + len(known)] = known
        return ids

    def spell(self, ids: tf.Tensor) -> tf.Tensor:
        """The words of padded ids `(B, L)`, strings `(B, L)`; empty from the end on.

        In a graph too; it holds the words and no resource.
        """
        is_end = tf.cast(tf.equal(ids, END), tf.int32)
        before_end = tf.equal(tf.cumsum(is_end, axis=1), 0)
        return tf.where(before_end, tf.gather(tf.constant(self._labels), ids), "")

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """The texts of padded ids `(B, L)`, strings `(B,)`, in a graph too."""
        joined = tf.strings.reduce_join(self.spell(ids), axis=1, separator=" ")
        return tf.strings.strip(joined)
