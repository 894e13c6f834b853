"""Texts to tokens and back: subwords or bytes, in a graph too.

Lines stand for paragraphs: their breaks are tokens, and so is a gap, which a text
spells `[MASK]`. Ids 0 to 3 are padding, start, end and unknown, as in all texts here.
"""

import abc
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import tensorflow as tf

from applications.text.tokenizer import SubwordTokenizer
from applications.text.vocabulary import END, PADDING, START, UNKNOWN

GAP = "[MASK]"
BREAK = "\n"

_SPECIAL = (PADDING, START, END, UNKNOWN)
_BLANK = "▁"
_FIRST_BYTE = len(_SPECIAL)
_GAP_BYTE = 0xFF  # no UTF-8 has it
_TEXTS_AT_ONCE = 1024


class Tokens(abc.ABC):
    """What both kinds of tokens have.

    Attributes:
        vocabulary_size: The number of ids, sentinels among them.
        gap: Id of `[MASK]`, where `with_gap` was asked for.
        sentinels: Ids that stand for one hidden span each; no text spells them.
        tracked: Resources of a SavedModel that uses it.
    """

    start, end, padding = START, END, PADDING
    vocabulary_size: int
    gap: int | None
    sentinels: range
    tracked: Sequence[Any] = ()

    @abc.abstractmethod
    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Int32 ids of clean texts `(B,)`."""

    @abc.abstractmethod
    def _text(self, ids: tf.Tensor) -> tf.Tensor:
        """Texts of padded ids `(B, L)`, of which special ones say nothing."""

    @abc.abstractmethod
    def pieces(self, ids: Iterable[int]) -> list[str]:
        """One readable label for each id."""

    @cached_property
    def special(self) -> tuple[int, ...]:
        """Ids that are no piece of a text: markers, gap and sentinels."""
        gap = () if self.gap is None else (self.gap,)
        return (*_SPECIAL, *gap, *self.sentinels)

    def ragged(
        self,
        texts: tf.Tensor | Sequence[str],
        add_start: bool = False,
        add_end: bool = False,
    ) -> tf.RaggedTensor:
        """The int32 ids of texts `(B,)`, each row as long as it is."""
        ids = self._ids(cleaned(texts))
        rows = ids.nrows(out_type=tf.int32)
        before = [tf.fill([rows, 1], START)] if add_start else []
        after = [tf.fill([rows, 1], END)] if add_end else []
        return tf.concat([*before, ids, *after], axis=1)

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """The texts of padded ids `(B, L)`, strings `(B,)`; a text ends at END."""
        ids = tf.cast(ids, tf.int32)
        is_end = tf.cast(tf.equal(ids, END), tf.int32)
        before_end = tf.equal(tf.cumsum(is_end, axis=1), 0)
        return self._text(tf.where(before_end, ids, PADDING))


class SubwordTokens(Tokens):
    """Pieces of a SentencePiece vocabulary that `vocabulary.train` made.

    Args:
        model: Its bytes; `BREAK` is one of its symbols.
        with_gap: Whether `GAP` is one, too.
        num_sentinels: How many `sentinel_names` are its controls.
    """

    def __init__(self, model: bytes, with_gap: bool = False, num_sentinels: int = 0):
        self._tokenizer = SubwordTokenizer(model)
        layer = self._tokenizer.layer
        self.tracked = (layer,)
        self.vocabulary_size = self._tokenizer.vocabulary_size
        self.gap = int(layer.token_to_id(GAP)) if with_gap else None
        names = sentinel_names(num_sentinels)
        first = int(layer.token_to_id(names[0])) if names else 0
        self.sentinels = range(first, first + num_sentinels)
        self._blank = int(layer.token_to_id(_BLANK))

    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        # A word that begins a line is the same piece as elsewhere.
        spaced = tf.strings.regex_replace(texts, BREAK, f"{BREAK} ")
        ids = self._tokenizer.ragged(spaced)
        if self.gap is None:
            return ids
        # A gap takes the place of a word together with the blank before it.
        following = tf.concat([ids.flat_values[1:], [PADDING]], axis=0)
        before_gap = tf.equal(ids.flat_values, self._blank) & tf.equal(
            following, self.gap
        )
        return tf.ragged.boolean_mask(ids, ids.with_flat_values(~before_gap))

    def _text(self, ids: tf.Tensor) -> tf.Tensor:
        texts = self._tokenizer.decode(ids)
        return tf.strings.regex_replace(texts, f"{BREAK} ", BREAK)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        found = self._tokenizer.pieces(ids)
        return ["⏎" if piece == BREAK else piece for piece in found]


class ByteTokens(Tokens):
    """The bytes of UTF-8.

    Args:
        with_gap: Whether `GAP` is a token.
        num_sentinels: How many ids follow those of the bytes.
    """

    def __init__(self, with_gap: bool = False, num_sentinels: int = 0):
        last = _FIRST_BYTE + 256
        self.gap = _FIRST_BYTE + _GAP_BYTE if with_gap else None
        self.sentinels = range(last, last + num_sentinels)
        self.vocabulary_size = last + num_sentinels
        self._spelling = [b""] * _FIRST_BYTE + [bytes([byte]) for byte in range(256)]
        self._spelling += [b""] * num_sentinels
        if self.gap is not None:
            self._spelling[self.gap] = GAP.encode()

    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        if self.gap is not None:
            texts = tf.strings.regex_replace(texts, r"\[MASK\]", bytes([_GAP_BYTE]))
        codes = tf.io.decode_raw(tf.strings.reduce_join(texts), tf.uint8)
        ids = tf.cast(codes, tf.int32) + _FIRST_BYTE
        return tf.RaggedTensor.from_row_lengths(ids, tf.strings.length(texts))

    def _text(self, ids: tf.Tensor) -> tf.Tensor:
        bytes_of = tf.gather(tf.constant(self._spelling), ids)
        joined = tf.strings.reduce_join(bytes_of, axis=1)
        return tf.strings.unicode_transcode(joined, "UTF-8", "UTF-8")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [self._label(int(number)) for number in ids]

    def _label(self, number: int) -> str:
        if number == self.gap:
            return GAP
        byte = number - _FIRST_BYTE
        if number < _FIRST_BYTE or byte > 0xFF:
            return f"<{number}>"
        if byte == ord(BREAK):
            return "⏎"
        if byte == ord(" "):
            return _BLANK
        return chr(byte) if 0x20 < byte < 0x7F else f"<0x{byte:02X}>"


def sentinel_names(count: int) -> list[str]:
    """What the sentinels are called in a vocabulary.

    Examples:
    >>> sentinel_names(2)
    ['<span 0>', '<span 1>']
    """
    return [f"<span {number}>" for number in range(count)]


def cleaned(texts: tf.Tensor | Sequence[str]) -> tf.Tensor:
    """Texts `(B,)` as they are read: blanks are single, lines neither blank nor padded.

    Bytes that are not UTF-8 become replacement characters.
    """
    texts = tf.convert_to_tensor(texts, tf.string)
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
    texts = tf.strings.regex_replace(texts, r"[\p{Z}\t\r\f\v]+", " ")
    texts = tf.strings.regex_replace(texts, r" ?\n[ \n]*", BREAK)
    return tf.strings.strip(texts)


def cleaned_texts(texts: Sequence[str]) -> list[str]:
    """Documents as every model and every baseline reads them: `cleaned`, and in NFC."""
    normal = [unicodedata.normalize("NFC", text) for text in texts]
    found: list[str] = []
    for first in range(0, len(normal), _TEXTS_AT_ONCE):
        some = cleaned(normal[first : first + _TEXTS_AT_ONCE])
        found += [text.decode("utf-8") for text in some.numpy()]
    return found
