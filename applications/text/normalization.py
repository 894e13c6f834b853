"""Unicode's NFC as rules that go inside a SentencePiece model.

TensorFlow has no operation for it, so a normalization outside the model would be done
in training and missing in a SavedModel. Inside the model both do the same.

The rules replace the longest sequence that stands for one character of NFC: every
decomposed or half-composed spelling, marks in any order where the order carries no
meaning, Hangul, and the characters that NFC always replaces. Beyond their reach is
what has no composed character: several marks on a letter keep their order if NFC
composes them only in part.
"""

import functools
import itertools
import sys
import unicodedata

_SURROGATES = range(0xD800, 0xE000)


@functools.cache
def nfc_rules() -> dict[str, str]:
    """Return every spelling that NFC replaces as a whole, with what replaces it."""
    rules = {}
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if code not in _SURROGATES and _nfd(character) != character:
            composed = _nfc(character)
            for spelling in _spellings(character):
                if spelling != composed and _nfc(spelling) == composed:
                    rules[spelling] = composed
    return rules


def nfc_rules_tsv() -> str:
    """Return the rules as the file that SentencePiece's trainer reads."""
    return "".join(
        f"{_hexadecimal(spelling)}\t{_hexadecimal(composed)}\n"
        for spelling, composed in sorted(nfc_rules().items())
    )


def _spellings(character: str) -> set[str]:
    """Return `character` and all that its decomposition can be partly composed to."""
    first, *marks = _nfd(character)
    return {character} | {
        _nfc(first + "".join(order[:count])) + "".join(order[count:])
        for order in itertools.permutations(marks)
        for count in range(len(order) + 1)
    }


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _hexadecimal(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)
