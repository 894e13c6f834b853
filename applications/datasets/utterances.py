"""Recorded sentences: what every set of them means by "text" and "test split"."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from applications.datasets.pairs import SPLITS, split_name

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")

# A text that holds one of these does not say how it is read aloud.
_NOT_SPELLED = re.compile(r"[\d%/\\]")


class Utterance(NamedTuple):
    """One recording and what is said in it.

    Attributes:
        key: Names the recording within its set.
        path: Its file.
        text: As it was written.
    """

    key: str
    path: Path
    text: str

    @property
    def words(self) -> str:
        """What is stored, and what its split is the hash of."""
        return spoken(self.text)


def spoken(text: str) -> str:
    """Return the words of a text as they are spoken.

    Lower case, in Unicode's NFC; letters and digits, and apostrophes between two of
    them, with one blank between words; everything else parts words and goes.

    Examples:
    >>> spoken("Zo’n schip -- 'k Zie het: Wàt?!")
    "zo'n schip k zie het wàt"
    """
    composed = unicodedata.normalize("NFC", text.translate(_APOSTROPHES).lower())
    return " ".join(_WORD.findall(composed))


def is_spelled_out(text: str, alphabet: str) -> bool:
    """Whether a text has words, all of these letters, and no digit, `%` or slash.

    Examples:
    >>> is_spelled_out("Vak C.", "ackv"), is_spelled_out("Vak C%1.", "ackv")
    (True, False)
    """
    words = spoken(text)
    known = set(words) <= {*alphabet, " ", "'"}
    return bool(words) and known and not _NOT_SPELLED.search(text)


def split(utterances: Iterable[Utterance]) -> dict[str, list[Utterance]]:
    """Split recordings by the hash of their words (`pairs.split_name`).

    So what is said in two recordings is on one side, whoever says it.
    """
    parts: dict[str, list[Utterance]] = {name: [] for name in SPLITS}
    for utterance in utterances:
        parts[split_name(utterance.words)].append(utterance)
    return parts
