import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applications.text.normalization import nfc_rules, nfc_rules_tsv


def apply(text):
    """Replace the longest spelling from the left, as SentencePiece does."""
    rules, done = nfc_rules(), ""
    while text:
        length = next((n for n in range(4, 0, -1) if text[:n] in rules), 0)
        done += rules[text[:length]] if length else text[0]
        text = text[max(length, 1) :]
    return done


def test_every_rule_is_nfc_and_none_is_longer_than_four():
    for spelling, composed in nfc_rules().items():
        assert unicodedata.normalize("NFC", spelling) == composed != spelling
        assert len(spelling) <= 4


@pytest.mark.parametrize(
    "text",
    [
        "cafe\u0301",  # one mark
        "e\u0302\u0301",  # two marks, from nothing, ...
        "ê\u0301",  # ... from half-way, ...
        "a\u0302\u0323",  # ... and in either order
        "\u212b\u2126",  # characters that NFC always replaces
        "\u0958\u0344",  # and those that it takes apart
        "\u1112\u1161\u11ab\u1100\u1173\u11af",  # Hangul, from parts ...
        "하\u11ab",  # ... and from half-way
        "\uf900\U0002f800",
    ],
)
def test_spellings_of_composed_characters(text):
    assert apply(text) == unicodedata.normalize("NFC", text) != text


@given(st.text(st.characters(exclude_categories=["Cs", "Mc", "Mn"])))
def test_any_text_without_loose_marks(text):
    nfc, nfd = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert apply(text) == apply(nfc) == apply(nfd) == nfc


def test_the_documented_limit_is_still_there():
    """A dot below after an acute: NFC reorders the marks, no rule does."""
    text = "e\u0301\u0323"
    assert unicodedata.normalize("NFC", text) == "ẹ\u0301"
    assert apply(text) == "é\u0323"


def test_the_file_has_one_sorted_rule_a_line():
    lines = nfc_rules_tsv().splitlines()
    assert len(lines) == len(nfc_rules()) > 20_000
    assert "65 301\tE9" in lines
    assert not nfc_rules_tsv().count("\t\n")
