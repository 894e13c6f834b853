import numpy as np
import tensorflow as tf

from applications.text.vocabulary import END, PADDING, START, UNKNOWN
from applications.text.words import WordVocabulary

TEXTS = ["a red car", "a cat", "a red red cat"]


def test_frequent_words_come_first_and_ties_by_letter():
    assert WordVocabulary.of(TEXTS).words == ("a", "red", "cat", "car")
    assert WordVocabulary.of(reversed(TEXTS)).words == ("a", "red", "cat", "car")
    assert WordVocabulary.of(TEXTS, min_count=3).words == ("a", "red")


def test_ids_have_a_start_an_end_and_padding():
    words = WordVocabulary(["a", "cat"])
    ids = words.encode(["a cat", "the cat", "", "a a a a"], max_length=3)
    assert ids.dtype == np.int32
    assert ids.tolist() == [
        [START, 4, 5, END, PADDING],
        [START, UNKNOWN, 5, END, PADDING],
        [START, END, PADDING, PADDING, PADDING],
        [START, 4, 4, 4, PADDING],  # cut: it has no end
    ]
    assert words.vocabulary_size == 6
    assert "cat" in words
    assert "the" not in words


def test_ids_are_spelled_up_to_the_end_in_a_graph():
    words = WordVocabulary(["a", "caf\u00e9"])
    ids = tf.constant([[4, 5, END, 5, PADDING], [5, 5, 5, 5, 5], [END, 4, 4, 4, 4]])
    decode, spell = tf.function(words.decode), tf.function(words.spell)
    texts = [text.decode() for text in decode(ids).numpy()]
    assert texts == ["a caf\u00e9", " ".join(["caf\u00e9"] * 5), ""]
    assert spell(ids).numpy()[0].tolist() == [b"a", "caf\u00e9".encode(), b"", b"", b""]


def test_encoded_texts_decode_to_themselves():
    words = WordVocabulary.of(TEXTS)
    ids = words.encode(TEXTS, max_length=4)[:, 1:]
    assert [text.decode() for text in words.decode(tf.constant(ids)).numpy()] == TEXTS
