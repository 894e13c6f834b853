import pytest

from applications.datasets.errors import DataError
from applications.datasets.labelled_texts import (
    LabelledText,
    LabelledTextBuilder,
    split,
    unique,
    wording,
)
from applications.datasets.pairs import SPLITS, split_name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's GREAT!!", "it s great"),
        ("cafe\u0301", "caf\u00e9"),
        ("हिन्दी", "हिन्दी"),
        (" :) ", ":)"),
        ("", ""),
    ],
)
def test_wording(text, expected):
    assert wording(text) == expected


def test_unique_keeps_the_first_and_what_differs_in_a_sign():
    rows = [
        LabelledText("good :)", "positive"),
        LabelledText("good  :)", "negative"),
        LabelledText("good :(", "negative"),
    ]
    assert unique(rows) == [rows[0], rows[2]]


def test_texts_that_are_alike_are_on_one_side():
    rows = [
        LabelledText(text, "a")
        for number in range(200)
        for text in (f"Text {number}!", f"text, {number}")
    ]
    parts = split(rows)
    assert sum(map(len, parts.values())) == len(rows)
    for name in SPLITS:
        assert parts[name]
        for one, other in zip(parts[name][::2], parts[name][1::2], strict=True):
            assert wording(one.text) == wording(other.text)
            assert split_name(wording(one.text)) == name


class Few(LabelledTextBuilder):
    """A set without a test text."""

    def _class_names(self):
        return ["a", "b"]

    def _parts(self):
        row = LabelledText("x", "b")
        return {"train": [row], "validation": [row], "test": []}


def test_a_set_that_cannot_be_split_is_refused(tmp_path):
    with pytest.raises(DataError, match="none is for test, which gets about 5 of 100"):
        Few(data_dir=tmp_path).download_and_prepare()
