import numpy as np
import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.speech_recognition.characters import (
    BLANK,
    Characters,
    teacher_forced,
)

KNOWN = Characters.of(["kuň běží", "a b'c"])


def test_each_character_has_one_id():
    assert KNOWN.characters == tuple(sorted("kuň běžía'c"))
    ids = KNOWN.encode(tf.constant("ěa'")).numpy()
    assert ids.tolist() == [3 + KNOWN.characters.index(one) for one in "ěa'"]
    assert KNOWN.vocabulary_size == 3 + len(KNOWN.characters)
    assert BLANK == 0


@pytest.mark.parametrize("text", ["kuň běží", "a", "b'c a", ""])
def test_a_text_comes_back(text):
    ids = KNOWN.encode(tf.constant(text))[None]
    assert KNOWN.decode(ids).numpy()[0].decode() == text


def test_what_is_unknown_is_left_out():
    ids = KNOWN.encode(tf.constant("xa\0\U0001f600zb"))
    assert ids.numpy().tolist() == KNOWN.encode(tf.constant("ab")).numpy().tolist()


def test_spelling_ends_at_the_end():
    a, b = KNOWN.encode(tf.constant("ab")).numpy()
    blank = KNOWN.encode(tf.constant(" ")).numpy()[0]
    ids = tf.constant([[1, a, 2, b, 0], [b, 0, a, blank, 0], [a, blank, blank, b, 2]])
    spelled = KNOWN.spell(ids).numpy()
    assert spelled[0].tolist() == [b"", b"a", b"", b"", b""]
    assert KNOWN.decode(ids).numpy().tolist() == [b"a", b"ba", b"a b"]


def test_teacher_forcing_shifts_by_one():
    ids = tf.constant([[7, 8, 0], [9, 9, 9], [0, 0, 0]])
    given, wanted = teacher_forced(ids, tf.constant([2, 3, 0], tf.int64))
    np.testing.assert_array_equal(given, [[1, 7, 8, 0], [1, 9, 9, 9], [1, 0, 0, 0]])
    np.testing.assert_array_equal(wanted, [[7, 8, 2, 0], [9, 9, 9, 2], [2, 0, 0, 0]])


def test_texts_without_a_character_are_refused():
    with pytest.raises(UserError, match="hold no characters"):
        Characters.of(["", ""])
