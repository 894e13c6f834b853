import pytest

from applications.datasets.debian_descriptions import family, pairs_from, paragraphs
from applications.datasets.fetch import debian_indexes
from applications.datasets.pairs import Pair, split, split_name

PACKAGES = """\
Package: tool
Source: toolbox (1.2)
Version: 1

Package: plain
"""
ENGLISH = """\
Package: tool
Description-md5: m1
Description-en: handy tool for files
 It opens all files. It closes them.
 .
 Features:
  * reads many formats
    of today
  * writes none at all

Package: plain
Description-md5: m2
Description-en: plain little package here
 Never translated in this test.
"""
GERMAN = """\
Package: tool
Description-md5: m1
Description-de: handliches Werkzeug für Dateien
 Es öffnet alle Dateien. Es schließt sie.
 .
 Merkmale:
  * liest viele
    heutige Formate
  * schreibt keine davon

Package: plain
Description-md5: m2
Description-de: schlichtes kleines Paket
 <trans>
"""
INDEXES = {
    "Packages": [PACKAGES],
    "Translation-en": [ENGLISH],
    "Translation-de": [GERMAN],
}


def test_pairs_are_sentences_under_their_source_package():
    assert pairs_from(INDEXES, "de") == [
        Pair("toolbox", "handy tool for files", "handliches Werkzeug für Dateien"),
        Pair("toolbox", "It opens all files.", "Es öffnet alle Dateien."),
        Pair("toolbox", "It closes them.", "Es schließt sie."),
        Pair("toolbox", "reads many formats of today", "liest viele heutige Formate"),
        Pair("toolbox", "writes none at all", "schreibt keine davon"),
        Pair("plain", "plain little package here", "schlichtes kleines Paket"),
    ]


def test_paragraphs_and_list_items_are_joined():
    lines = ["one", "two", ".", "list:", " * first", "   more", " * second", "."]
    assert paragraphs(lines) == ["one two", "list:", "first more", "second"]


def test_families_stay_on_one_side():
    assert family("ruby-rails") == family("ruby-mail") == "ruby"
    assert family("rubber") == "rubber"
    assert family("r-cran-zoo") == "r"
    assert split_name(family("golang-a")) == split_name(family("golang-b"))


@pytest.mark.network
@pytest.mark.slow
def test_real_indexes_give_many_pairs():
    parts = split(pairs_from(debian_indexes("de", ""), "de"))
    assert len(parts["train"]) > 30_000
    assert min(len(parts["validation"]), len(parts["test"])) > 1_000
