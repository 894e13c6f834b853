import sys

import numpy as np
import pytest

from keras_attention.metrics import (
    character_error_rate,
    error_rate_difference,
    error_rate_interval,
    word_error_rate,
)

pytest.importorskip("jiwer", reason="jiwer is not installed here")


@pytest.mark.parametrize(
    ("hypotheses", "references", "expected"),
    [
        # The mean of both texts would be 0.5.
        (["b", "a b c d e f g h i"], ["a", "a b c d e f g h i"], 0.1),
        (["hello how are you"], ["hello"], 3.0),
    ],
)
def test_c49_words_are_counted_over_the_corpus(hypotheses, references, expected):
    assert word_error_rate(hypotheses, references).value == expected


@pytest.mark.parametrize(
    ("hypotheses", "references", "expected"),
    [
        (["b", "a b"], ["", "a b"], 0.5),
        (["b"], [""], 1.0),
        (["b c d"], [""], 3.0),
        ([""], [""], 0.0),
        (["  "], [""], 0.0),
    ],
)
def test_c50_what_is_heard_in_silence_is_inserted(hypotheses, references, expected):
    found = word_error_rate(hypotheses, references)
    assert found.value == expected
    assert found.insertions == sum(
        len(text.split())
        for text, right in zip(hypotheses, references, strict=True)
        if not right
    )


def test_characters_count_with_their_blanks():
    found = character_error_rate(["ac at", "x"], ["a cat", ""])
    assert (found.substitutions, found.deletions, found.insertions) == (0, 1, 2)
    assert found.value == 3 / 5
    assert found.per_text.tolist() == [[2, 5], [1, 0]]


def test_every_script_and_letter_counts():
    assert character_error_rate(["žluťoučký"], ["žluťoučký"]).value == 0
    assert character_error_rate(["zlutoucky"], ["žluťoučký"]).value == 4 / 9
    assert word_error_rate(["кошка спит"], ["кошка сидит"]).value == 0.5


def test_nothing_said_is_all_deleted():
    found = word_error_rate(["", ""], ["a b c", "d"])
    assert (found.value, found.deletions) == (1.0, 4)


def test_intervals_over_the_texts():
    references = [f"a b c {number}" for number in range(40)]
    half = [text if row % 2 else "x" for row, text in enumerate(references)]
    rate = word_error_rate(half, references)
    assert rate.value == 0.5
    interval = error_rate_interval(rate)
    assert interval.value == 0.5
    # Of 40 texts half are wrong: a standard error of 0.5 / sqrt(40) = 0.079.
    assert interval.low == pytest.approx(0.5 - 1.96 * 0.079, abs=0.03)
    assert interval.high == pytest.approx(0.5 + 1.96 * 0.079, abs=0.03)
    empty = word_error_rate([""] * 40, references)
    gap = error_rate_difference(rate, empty)
    assert gap.value == -0.5
    assert gap.low < gap.value < gap.high < 0
    assert tuple(error_rate_difference(rate, rate)) == (0, 0, 0)


def test_texts_must_be_as_many():
    with pytest.raises(ValueError, match="`hypotheses` and `references` must be"):
        word_error_rate(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="at least one"):
        character_error_rate([], [])


def test_values_are_plain_numbers():
    found = word_error_rate(["a"], ["b"])
    assert [type(x) for x in found[:4]] == [float, int, int, int]
    assert np.issubdtype(found.per_text.dtype, np.integer)


def test_without_jiwer_a_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jiwer", None)
    with pytest.raises(ImportError, match=r"keras-attention\[speech\]"):
        word_error_rate(["a"], ["a"])
