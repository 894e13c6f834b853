import itertools

import numpy as np
import pytest

from applications.language_modeling import word_model
from applications.language_modeling.word_model import WordModel

TRAIN = ["She was happy. She was not rich.", "He was rich, and she was happy.\nYes."]


@pytest.mark.parametrize(
    "text",
    ["It's  5 o'clock—\n\n\"no_one\"\tcame!! ", "", "ünïcödé, 東京。", "\u00a0x"],
)
def test_nothing_of_a_text_is_lost(text):
    assert "".join(word_model._words(text)) == text


def test_words_keep_the_blank_before_them():
    assert word_model._words("I can't, sir.\n") == [
        "I",
        " can't",
        ",",
        " sir",
        ".",
        "\n",
    ]


def test_bits_are_those_of_words_and_of_spellings():
    model = WordModel(order=3).fit(TRAIN)
    words = word_model._words("She was merry.")
    of_words = model._words.log2_probabilities([model._marked(words)])[0]
    spelled = model._spelling.log2_probabilities([[*b"She", -1], [*b" merry", -1]])
    expected = -of_words.sum() - sum(bits.sum() for bits in spelled)
    texts = ["She was happy.", "She was merry.", ""]
    bits = model.bits(texts)
    assert bits[1] == pytest.approx(expected)
    assert bits[0] < bits[1]
    assert bits[2] > 0  # that it ends at once
    assert model.bits_per_byte(texts) == pytest.approx(bits.sum() / 28)


def test_all_words_together_are_not_more_likely_than_certain():
    """An honest code: what texts of one word, or none, are adds up to less than 1."""
    model = WordModel(order=2).fit(["ab", "ab", "ab", "b", "a"])
    words = [
        "".join(letters)
        for length in range(7)
        for letters in itertools.product("abc", repeat=length)
    ]
    total = np.sum(2.0 ** -model.bits(words))
    assert 0.5 < total < 1


def test_words_seen_once_teach_what_is_new():
    model = WordModel(order=2).fit(TRAIN)
    assert " was" in model._known
    assert " not" not in model._known
    likely, unlikely = model.bits(["She was not", "She was nqt"])
    assert likely < unlikely


def test_training_without_a_rare_word_leaves_room_for_one():
    model = WordModel(order=2).fit(["a a a a"])
    assert np.isfinite(model.bits(["a b"])).all()
