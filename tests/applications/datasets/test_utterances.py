from pathlib import Path

import pytest

from applications.datasets.pairs import SPLITS, split_name
from applications.datasets.utterances import Utterance, is_spelled_out, split, spoken


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Co je to\tza divnou LOĎ? ", "co je to za divnou loď"),
        ("z'n zo\u2019n IT'S 'tis dogs' ''", "z'n zo'n it's tis dogs"),
        ("серо-карие... ЁЛКА!", "серо карие ёлка"),
        ("cafe\u0301_2", "café 2"),
        ("... !", ""),
    ],
)
def test_a_text_becomes_its_words(text, expected):
    assert spoken(text) == expected
    assert spoken(expected) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ach, bac!", True),
        ("a'b", True),
        ("abd", False),
        ("ab 2", False),
        ("a % b", False),
        ("a/b", False),
        ("a\\b", False),
        ("...", False),
        ("", False),
    ],
)
def test_texts_that_say_how_they_are_read(text, expected):
    assert is_spelled_out(text, "abch") == expected


def test_one_text_is_on_one_side_whoever_says_it():
    texts = [f"Sentence {number}" for number in range(60)]
    spellings = [str.lower, str.upper, "{}!".format]
    rows = [
        Utterance(f"{who}/{text}", Path("x.wav"), spell(text))
        for who, spell in enumerate(spellings)
        for text in texts
    ]
    parts = split(rows)
    assert sum(map(len, parts.values())) == len(rows)
    for name in SPLITS:
        assert parts[name]
        assert len(parts[name]) == 3 * len({row.words for row in parts[name]})
        assert {split_name(row.words) for row in parts[name]} == {name}
