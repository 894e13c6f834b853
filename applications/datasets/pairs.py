"""Sentence pairs: cut paragraphs into sentences, keep the sound ones, split them.

Every translation corpus here goes through these functions, so that all of them
mean the same thing by "sentence pair", "unique" and "test split".
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SPLITS = ("train", "validation", "test")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"„“«¿¡(]?[A-ZÀ-ÞА-Я0-9])")
_SOURCE_WORDS = (3, 40)
_TARGET_WORDS = (2, 50)
_LENGTH_RATIO = (0.4, 2.5)


class Pair(NamedTuple):
    """One source text, its translation, and the document both come from."""

    group: str
    source: str
    target: str


def sentences(text: str) -> list[str]:
    """Cut `text` after `.`, `!` or `?` where an upper-case letter or digit follows."""
    return _SENTENCE_END.split(text)


def aligned_sentences(group: str, source: str, target: str) -> Iterator[Pair]:
    """Yield the sentence pairs of one aligned paragraph.

    Sentences are paired in order where both sides have equally many; otherwise
    the paragraph stays whole.
    """
    pieces = sentences(source), sentences(target)
    if len(pieces[0]) != len(pieces[1]):
        pieces = [source], [target]
    for left, right in zip(*pieces, strict=True):
        yield Pair(group, left, right)


def is_sound(pair: Pair) -> bool:
    """Say whether a pair looks like a sentence and its translation.

    Kept are sources of 3 to 40 words and targets of 2 to 50, of a length ratio (in
    characters) from 0.4 to 2.5, that differ from each other and hold letters.
    """
    source, target = pair.source, pair.target
    return (
        source != target
        and _within(len(source.split()), _SOURCE_WORDS)
        and _within(len(target.split()), _TARGET_WORDS)
        and _within(len(target) / len(source), _LENGTH_RATIO)
        and any(map(str.isalpha, source))
        and any(map(str.isalpha, target))
    )


def unique(pairs: Iterable[Pair]) -> list[Pair]:
    """Keep the sound pairs, the first of every source text, in order."""
    first: dict[str, Pair] = {}
    for pair in pairs:
        if pair.source not in first and is_sound(pair):
            first[pair.source] = pair
    return list(first.values())


def split_name(key: str | bytes) -> str:
    """Name the split that everything under `key` belongs to.

    `crc32(key) % 100`: 0-4 is test, 5-9 validation, the rest train. No random
    numbers and no order are involved, so the split is the same on every machine.
    """
    content = key if isinstance(key, bytes) else key.encode("utf-8")
    bucket = zlib.crc32(content) % 100
    if bucket < 5:
        return "test"
    return "validation" if bucket < 10 else "train"


def split(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """Split `pairs` by the hash of their group, so that no document is cut.

    A held-out pair whose exact source also stands in train is dropped.
    """
    parts: dict[str, list[Pair]] = {name: [] for name in SPLITS}
    for pair in pairs:
        parts[split_name(pair.group)].append(pair)
    seen = {pair.source for pair in parts["train"]}
    for name in ("validation", "test"):
        parts[name] = [pair for pair in parts[name] if pair.source not in seen]
    return parts


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1]
