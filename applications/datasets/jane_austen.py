"""The builder `jane_austen`: six novels, chapter by chapter."""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.fetch import debian_package
from applications.datasets.pairs import SPLITS, split_name
from applications.datasets.r_data import character_vectors

# In the order in which they were published, by their names in the package.
NOVELS = {
    "sensesensibility": "Sense and Sensibility",
    "prideprejudice": "Pride and Prejudice",
    "mansfieldpark": "Mansfield Park",
    "emma": "Emma",
    "northangerabbey": "Northanger Abbey",
    "persuasion": "Persuasion",
}
HELD_OUT = "Northanger Abbey"

_PACKAGE = "r-cran-janeaustenr"
_FOLDER = "usr/lib/R/site-library/janeaustenr/data"
_EXTRA = "language-modeling"
_INSTEAD = "Use the path of a .txt file of your own."

_CHAPTER = re.compile(r"chapter (\d+|[ivxlc]+)", re.IGNORECASE)
# What editors and printers added: a text may end with it, and so does a chapter.
_END = re.compile(r"finis|the end|volume [ivx]+|a note on the text", re.IGNORECASE)
_EDITORS = re.compile(r"\[(End volume|At this point in)")


class Chapter(NamedTuple):
    """A chapter, its number in its novel, and the novel's title."""

    title: str
    chapter: str
    text: str


class JaneAusten(tfds.core.GeneratorBasedBuilder):
    """The six novels of Jane Austen (1811 to 1818), one example a chapter.

    From the Debian package `r-cran-janeaustenr`, which has them from Project Gutenberg.
    Examples are `{"title", "chapter", "text"}`, three strings, in the order of the
    books; chapters are counted through the volumes of a novel. Every paragraph is one
    line: the line ends of print, indents and double blanks became one blank. Left out
    are title pages, headings, ornaments, notes of editors and printers, and the `_`
    around what is in italics, which half of the novels have.

    One novel, Northanger Abbey, is the test split: nothing of its people and places is
    in the others. (Persuasion is no better choice: it alone writes `Mr` without a
    point.) A chapter of the others is for validation where the hash of title and
    number says so (`applications.datasets.pairs.split_name`, 5 of 100), else for
    training.

    Counts, from version 1.0.0; words are what blanks part:

    | split | chapters | words | bytes |
    |---|---|---|---|
    | train | 224 | 594,647 | 3,316,218 |
    | validation | 14 | 45,157 | 252,349 |
    | test | 31 | 76,866 | 430,509 |
    """

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {name: tfds.features.Text() for name in Chapter._fields}
            ),
            homepage="https://github.com/juliasilge/janeaustenr",
            license="Public domain; the package that holds it: MIT",
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from packages and files
        folder = debian_package(_PACKAGE, _INSTEAD).root / _FOLDER
        parts = split(read(character_vectors(folder, _EXTRA)))
        return {name: self._generate_examples(part) for name, part in parts.items()}

    def _generate_examples(self, part: list[Chapter]) -> Iterator[tuple[int, dict]]:
        for number, chapter in enumerate(part):
            yield number, chapter._asdict()


def read(novels: dict[str, list[str]]) -> list[Chapter]:
    """All chapters in their order.

    Args:
        novels: The lines of every novel by its name in the package.

    Raises:
        DataError: A novel is missing or has no chapter.
    """
    found = []
    for name, title in NOVELS.items():
        texts = chapters(novels.get(name, []))
        if not texts:
            raise DataError(f"The package {_PACKAGE} has no chapter of {title}.")
        found += [Chapter(title, str(n), text) for n, text in enumerate(texts, 1)]
    return found


def chapters(lines: Iterable[str]) -> list[str]:
    r"""The texts of a novel's chapters, one paragraph a line.

    Examples:
    >>> lines = ["", "CHAPTER I", "", "It _was_", "  so.", "", "Yes.", "", "FINIS"]
    >>> chapters(lines)
    ['It was so.\nYes.']
    """
    found: list[list[str]] = []
    inside = False
    for paragraph in _paragraphs(lines):
        if _CHAPTER.fullmatch(paragraph):
            found.append([])
            inside = True
        elif _END.fullmatch(paragraph):
            inside = False
        elif inside and _is_text(paragraph):
            found[-1].append(paragraph)
    return ["\n".join(paragraphs) for paragraphs in found]


def split(all_chapters: Iterable[Chapter]) -> dict[str, list[Chapter]]:
    """Hold one novel out for test, and chapters of the others for validation."""
    parts: dict[str, list[Chapter]] = {name: [] for name in SPLITS}
    for chapter in all_chapters:
        if chapter.title == HELD_OUT:
            parts["test"].append(chapter)
        else:
            hashed = split_name(f"{chapter.title} {chapter.chapter}")
            parts["validation" if hashed == "validation" else "train"].append(chapter)
    return parts


def _paragraphs(lines: Iterable[str]) -> list[str]:
    """What blank lines part, each on one line."""
    words = (" ".join(line.replace("_", "").split()) for line in lines)
    blocks = itertools.groupby(words, key=bool)
    return [" ".join(block) for has_words, block in blocks if has_words]


def _is_text(paragraph: str) -> bool:
    return any(map(str.isalnum, paragraph)) and not _EDITORS.match(paragraph)
