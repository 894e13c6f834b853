"""A model of whole words, measured in bits of the text: nothing is unknown to it."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from applications.language_modeling.ngrams import KneserNey

# Every character is in one of them: a word with the blank before it, a mark, a blank.
_WORD = re.compile(r" ?\w+(?:'\w+)*| ?[^\w\s]|\s")
_RARE = None  # stands for a word that is spelled
_END = -1  # after the words of a text, and after the bytes of a word
_BYTES = 256


class WordModel:
    """Kneser-Ney over words, in which a new word is spelled by one over bytes.

    Words keep the blank before them, and marks are words of their own, so that nothing
    of a text is lost; its end is one more word, and so its bits can be held against
    those of any model that has to say where a text ends. Words seen once in training
    count as new there, which teaches the model where to expect new ones and how they
    are spelled. A new word costs the bits of saying so, of its bytes and of its end.

    Args:
        order: The length of the longest n-grams, of words and of bytes.

    Examples:
    >>> model = WordModel(order=2).fit(["She was. She was not. She is."])
    >>> model.bits(["She was.", "She owns."]).round(1).tolist()
    [11.3, 40.0]
    """

    def __init__(self, order: int = 5):
        self.order = order

    def fit(self, texts: Iterable[str]) -> "WordModel":
        """Count words and their bytes, and return the model.

        Raises:
            ValueError: There is no word.
        """
        texts = [_words(text) for text in texts]
        counts = Counter(word for words in texts for word in words)
        self._known = {word for word, count in counts.items() if count > 1}
        rare = [word for word in counts if word not in self._known]
        self._words = KneserNey(self.order).fit(map(self._marked, texts))
        size = _BYTES + 1
        # Without a rare word there is nothing but the end to learn spelling from.
        spellings = map(_spelled, rare or counts)
        self._spelling = KneserNey(self.order, vocabulary_size=size).fit(spellings)
        return self

    def bits(self, texts: Sequence[str]) -> np.ndarray:
        """The length of every text in bits, float64 `(n,)`; its end is counted."""
        words = [_words(text) for text in texts]
        found = self._words.log2_probabilities(map(self._marked, words))
        new = [[_spelled(w) for w in one if w not in self._known] for one in words]
        spelled = self._spelling.log2_probabilities([w for one in new for w in one])
        of_words = iter([float(bits.sum()) for bits in spelled])
        spent = [sum(next(of_words) for _ in one) for one in new]
        return -np.array([bits.sum() for bits in found]) - np.array(spent)

    def bits_per_byte(self, texts: Sequence[str]) -> float:
        """Bits of all texts by their bytes in UTF-8."""
        return float(self.bits(texts).sum()) / sum(len(t.encode()) for t in texts)

    def _marked(self, words: list[str]) -> list[str | int | None]:
        return [*(word if word in self._known else _RARE for word in words), _END]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _spelled(word: str) -> list[int]:
    return [*word.encode(), _END]
