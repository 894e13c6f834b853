"""Characters as tokens: a text is spelled, and what is recognized is put together."""

from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf

from applications.errors import UserError
from applications.text.vocabulary import END, PADDING, START

BLANK = PADDING
"""What CTC says where it says nothing."""

_FIRST = max(PADDING, START, END) + 1  # id of the first character


class Characters:
    """The characters of training texts, and texts as their ids and back.

    Ids 0 to 2 are padding (CTC's blank too), start and end. Everything here works in
    the graph and holds no resource.

    Args:
        characters: Each once, in the order of their code points; their ids follow from
            3 on.

    Attributes:
        characters: The same.
        vocabulary_size: The number of ids.
    """

    def __init__(self, characters: Sequence[str]):
        self.characters = tuple(characters)
        self.vocabulary_size = _FIRST + len(self.characters)
        self._codes = np.array([ord(one) for one in self.characters], "int32")
        self._labels = [*[""] * _FIRST, *self.characters]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Characters":
        """All characters that stand in texts.

        Examples:
        >>> Characters.of(["a b", "c'b"]).characters
        (' ', "'", 'a', 'b', 'c')

        Raises:
            UserError: There are none.
        """
        found = sorted({character for text in texts for character in text})
        if not found:
            raise UserError("The training texts hold no characters.")
        return cls(found)

    def encode(self, text: tf.Tensor) -> tf.Tensor:
        """Ids int32 `(U,)` of a text, a scalar string; what is unknown is left out."""
        codes = tf.strings.unicode_decode(text, "UTF-8")
        known = tf.constant(self._codes)
        place = tf.minimum(tf.searchsorted(known, codes), len(self._codes) - 1)
        is_known = tf.equal(tf.gather(known, place), codes)
        return tf.boolean_mask(place + _FIRST, is_known)

    def spell(self, ids: tf.Tensor) -> tf.Tensor:
        """The characters of padded ids `(B, L)`, strings `(B, L)`; empty from the end.

        Padding and start are empty too, wherever they stand.
        """
        is_end = tf.cast(tf.equal(ids, END), tf.int32)
        before_end = tf.equal(tf.cumsum(is_end, axis=1), 0)
        return tf.where(before_end, tf.gather(tf.constant(self._labels), ids), "")

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """The texts of padded ids `(B, L)`, strings `(B,)`.

        Blanks at the ends are cut off, and several in a row become one.
        """
        joined = tf.strings.reduce_join(self.spell(ids), axis=1)
        return tf.strings.strip(tf.strings.regex_replace(joined, " +", " "))


def teacher_forced(ids: tf.Tensor, lengths: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """What a decoder reads and what it must say, `(B, U + 1)` each.

    Args:
        ids: Characters `(B, U)`, padded.
        lengths: How many each text has, `(B,)`.

    Returns:
        The start and the characters; the characters and the end.
    """
    start = tf.fill([tf.shape(ids)[0], 1], START)
    room = tf.pad(ids, [[0, 0], [0, 1]], constant_values=PADDING)
    is_end = tf.equal(tf.range(tf.shape(room)[1]), tf.cast(lengths, tf.int32)[:, None])
    return tf.concat([start, ids], axis=1), tf.where(is_end, END, room)
