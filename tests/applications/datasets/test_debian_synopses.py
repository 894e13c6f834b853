import pytest

from applications.datasets.debian_synopses import pairs_from, without_known
from applications.datasets.fetch import debian_indexes
from applications.datasets.pairs import Pair, split

PACKAGES = """\
Package: tool
Source: toolbox (1.2)

Package: atool
Source: toolbox

Package: toolbox

Package: gcc-12-doc
Source: gcc-12

Package: ruby-mail

Package: short
"""
LONG = " ".join(f"w{i}" for i in range(24))


def stanza(package, body):
    lines = f"Package: {package}\nDescription-md5: {package}\n"
    return f"{lines}Description-en: about {package}\n {body}\n\n"


def indexes(*stanzas):
    return {"Packages": [PACKAGES], "Translation-en": ["".join(stanzas)]}


def test_one_row_a_source_that_of_its_own_name_first():
    everything = [stanza(x, f"{x} {LONG}") for x in ("tool", "toolbox", "atool")]
    assert pairs_from(indexes(*everything)) == [
        Pair("toolbox", f"toolbox {LONG}", "about toolbox")
    ]
    assert pairs_from(indexes(everything[0], everything[2])) == [
        Pair("toolbox", f"atool {LONG}", "about atool")
    ]


def test_a_body_is_one_paragraph_of_25_words():
    found = pairs_from(
        indexes(
            stanza("short", LONG),
            stanza("tool", f"{LONG}\n .\n  * and an item"),
            stanza("stale", f"one {LONG}"),  # of no package any more
        )
    )
    assert found == [Pair("toolbox", f"{LONG} and an item", "about tool")]


def test_groups_have_no_version_and_families_are_one():
    found = pairs_from(
        indexes(stanza("gcc-12-doc", f"x {LONG}"), stanza("ruby-mail", f"y {LONG}"))
    )
    assert [pair.group for pair in found] == ["gcc", "ruby"]


def test_held_out_rows_of_known_passages_are_dropped():
    words = [f"w{i}" for i in range(40)]
    new = [f"n{i}" for i in range(40)]
    train = Pair("a", " ".join(words), "t")
    copied = Pair("b", " ".join(words).upper(), "t")
    mostly = Pair("c", " ".join(words[:36] + new[:4]), "t")
    partly = Pair("d", " ".join(words[:16] + new[:24]), "t")
    parts = {"train": [train], "validation": [copied, partly], "test": [mostly]}
    assert without_known(parts) == {
        "train": [train],
        "validation": [partly],
        "test": [],
    }


@pytest.mark.network
@pytest.mark.slow
def test_real_indexes_give_many_pairs():
    parts = without_known(split(pairs_from(debian_indexes("en", ""))))
    assert len(parts["train"]) > 20_000
    assert min(len(parts["validation"]), len(parts["test"])) > 500
    groups = [{pair.group for pair in pairs} for pairs in parts.values()]
    assert not groups[0] & (groups[1] | groups[2])
