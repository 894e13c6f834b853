import re

import pytest

from applications.datasets.errors import DataError
from applications.datasets.libreoffice_help import corpus
from applications.datasets.pairs import Pair, is_sound, split

VERSION = "4:7.4.7-1+deb12u14"


@pytest.fixture(scope="module")
def pairs():
    return corpus.read()


def test_embedded_counts_are_those_of_the_docstring(pairs):
    parts = split(pairs)
    assert {name: len(part) for name, part in parts.items()} == {
        "train": 33_589,
        "validation": 1_177,
        "test": 1_414,
    }
    pages = {name: {pair.group for pair in part} for name, part in parts.items()}
    assert {name: len(groups) for name, groups in pages.items()} == {
        "train": 2_109,
        "validation": 102,
        "test": 124,
    }


def test_embedded_texts_are_clean(pairs):
    for pair in pairs:
        for text in (pair.source, pair.target):
            assert " ".join(text.split()) == text
            assert not re.search(r"<\w+ (class|dir|href|id|src)=|&nbsp;", text)
        assert is_sound(pair)


def test_no_page_and_no_source_leaks(pairs):
    parts = split(pairs)
    train = parts["train"]
    for name in ("validation", "test"):
        for field in ("group", "source"):
            seen = {getattr(pair, field) for pair in train}
            assert not seen & {getattr(pair, field) for pair in parts[name]}


def test_the_licence_stands_beside_the_data():
    folder = corpus.EMBEDDED.parent
    assert (
        (folder / "LICENSE")
        .read_text()
        .startswith("Mozilla Public License Version 2.0")
    )
    assert VERSION in (folder / "README.md").read_text()


def test_write_is_sorted_and_gives_the_same_bytes(tmp_path):
    pairs = [Pair("b", "two", "zwei"), Pair("a", "one", "eins")]
    first, second = tmp_path / "first.gz", tmp_path / "second.gz"
    corpus.write(pairs, first)
    corpus.write(pairs[::-1], second)
    assert first.read_bytes() == second.read_bytes()
    assert corpus.read(first) == pairs[::-1]


def test_other_columns_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "_COLUMNS", ("a", "b", "c"))
    corpus.write([], tmp_path / "file.gz")
    monkeypatch.undo()
    with pytest.raises(DataError, match="columns page, source, target"):
        corpus.read(tmp_path / "file.gz")


@pytest.mark.network
def test_the_packages_give_the_embedded_file(pairs):
    fetched, version = corpus.fetch("de")
    if version != VERSION:
        pytest.skip(f"the machine's sources offer version {version}")
    assert sorted(fetched) == pairs
