import re

import numpy as np
import pytest

from applications.datasets import jane_austen
from applications.datasets.errors import DataError
from applications.datasets.fetch import DebianPackage, debian_package
from applications.datasets.jane_austen import Chapter, chapters, read, split
from applications.datasets.pairs import SPLITS, split_name
from applications.datasets.r_data import character_vectors
from tests.applications.datasets import r_files

NOVEL = """A TITLE

By Jane Austen


VOLUME I


CHAPTER I


She _was_ in
town.  Yes.

     "A letter,
     indented."

                    ***

[At this point in the first and second editions, Volume 1 ends.]



VOLUME II

CHAPTER I

[To Mrs. Weston.]

The end of it.

Chapter 12

All was well.


THE END

A NOTE ON THE TEXT

It was written.""".splitlines()
TEXTS = [
    'She was in town. Yes.\n"A letter, indented."',
    "[To Mrs. Weston.]\nThe end of it.",
    "All was well.",
]


def test_chapters_are_paragraphs_without_what_others_added():
    assert chapters(NOVEL) == TEXTS


def test_a_novel_is_held_out_and_chapters_of_the_others():
    novels = dict.fromkeys(jane_austen.NOVELS, NOVEL[6:] * 15)
    parts = split(read(novels))
    assert sum(map(len, parts.values())) == 6 * 45
    assert {row.title for row in parts["test"]} == {jane_austen.HELD_OUT}
    assert [int(row.chapter) for row in parts["test"]] == list(range(1, 46))
    for name in ("train", "validation"):
        assert parts[name]
        for row in parts[name]:
            assert row.title != jane_austen.HELD_OUT
            hashed = split_name(f"{row.title} {row.chapter}") == "validation"
            assert hashed == (name == "validation")


@pytest.mark.parametrize("novels", [{}, {"sensesensibility": ["no", "heading"]}])
def test_a_package_without_a_novel_is_refused(novels):
    with pytest.raises(DataError, match="no chapter of Sense and Sensibility"):
        read(novels)


def test_the_builder_writes_chapters_in_their_order(tmp_path, monkeypatch):
    folder = tmp_path / "package" / jane_austen._FOLDER
    lines = np.array(NOVEL[6:] * 12)
    r_files.write(folder, dict.fromkeys(jane_austen.NOVELS, lines))
    package = DebianPackage(tmp_path / "package", "1.0.0-1")
    monkeypatch.setattr(jane_austen, "debian_package", lambda *_: package)
    builder = jane_austen.JaneAusten(data_dir=tmp_path / "data")
    builder.download_and_prepare()
    rows = list(builder.as_dataset(split="test").as_numpy_iterator())
    found = [Chapter(*(row[name].decode() for name in Chapter._fields)) for row in rows]
    assert found == [
        Chapter(jane_austen.HELD_OUT, str(number), TEXTS[(number - 1) % 3])
        for number in range(1, 37)
    ]


@pytest.mark.network
def test_counts_of_the_docstring():
    package = debian_package(jane_austen._PACKAGE, "")
    if package.version != "1.0.0-1":
        pytest.skip(f"the machine's sources offer version {package.version}")
    novels = character_vectors(package.root / jane_austen._FOLDER, "")
    every = read(novels)
    parts = split(every)
    rows = re.findall(
        r"\| (\w+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|",
        jane_austen.JaneAusten.__doc__,
    )
    stated = {
        name: tuple(int(number.replace(",", "")) for number in numbers)
        for name, *numbers in rows
    }
    assert stated == {
        name: (
            len(part),
            sum(len(row.text.split()) for row in part),
            sum(len(row.text.encode()) for row in part),
        )
        for name, part in parts.items()
    }
    assert tuple(stated) == SPLITS
    titles = [row.title for row in every]
    found = {title: titles.count(title) for title in jane_austen.NOVELS.values()}
    assert list(found.values()) == [50, 61, 48, 55, 31, 24]
    text = "\n".join(row.text for row in every)
    assert not re.search(r"_|  |\n\n|\* \*|CHAPTER|VOLUME|FINIS|\[(End|At)", text)
