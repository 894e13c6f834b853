"""The builder `vader`: short texts rated by people."""

import html
import tarfile
from pathlib import Path
from typing import ClassVar

from applications.datasets.errors import DataError
from applications.datasets.fetch import pypi_source
from applications.datasets.labelled_texts import (
    LabelledText,
    LabelledTextBuilder,
    split,
    unique,
    wording,
)

CLASSES = ("negative", "positive")

_PACKAGE = ("vaderSentiment", "3.3.2")
_SHA256 = "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9"
_ARCHIVE = "additional_resources/hutto_ICWSM_2014.tar.gz"
_FILES = {
    "movies": "movieReviewSnippets_GroundTruth.txt",
    "tweets": "tweets_GroundTruth.txt",
    "amazon": "amazonReviewSnippets_GroundTruth.txt",
}
_LEAST = 0.5  # magnitude of a rating that is not neutral; ratings go from -4 to 4
_INSTEAD = "Use the path of a CSV file of your own with the columns text,label."


class Vader(LabelledTextBuilder):
    """Sentences of movie reviews that people rated as positive or negative.

    By Hutto and Gilbert (ICWSM 2014, "VADER: a parsimonious rule-based model for
    sentiment analysis of social media text"), from the source distribution of the PyPI
    package `vaderSentiment` 3.3.2. Each text has the mean of several people's ratings
    from -4 to 4: 0.5 and more is `positive`, -0.5 and less `negative`, and what lies
    between, neutral, is left out. HTML's escapes (`&amp;`) are resolved. The first of
    equal texts is kept.

    Movie reviews are split by the hash of a sentence's wording: letters and numbers,
    without case and punctuation (`labelled_texts.split`; 5 % test, 5 % validation). The
    file does not say which review a sentence is from, so that two of one review may be
    on two sides. Tweets and sentences of Amazon reviews are further tests of a model of
    movie reviews; one whose wording also stood in the movie reviews would be left out,
    and none does.

    Counts, of version 3.3.2:

    | split | texts | positive |
    |---|---|---|
    | train | 9,110 | 4,529 |
    | validation | 476 | 233 |
    | test | 484 | 233 |
    | tweets | 3,432 | 2,345 |
    | amazon | 2,976 | 1,744 |
    """

    HOMEPAGE = "https://github.com/cjhutto/vaderSentiment"
    LICENSE = "MIT"
    FURTHER_TESTS: ClassVar[tuple[str, ...]] = ("tweets", "amazon")

    def _class_names(self) -> tuple[str, ...]:
        return CLASSES

    def _parts(self) -> dict[str, list[LabelledText]]:
        return read(pypi_source(*_PACKAGE, _SHA256, _INSTEAD))


def read(package: Path) -> dict[str, list[LabelledText]]:
    """The texts of every split, from the unpacked package.

    Raises:
        DataError: A file is missing or not what it should be.
    """
    found = {name: unique(_rated(package, file)) for name, file in _FILES.items()}
    movies = found.pop("movies")
    known = {wording(row.text) for row in movies}
    further = {
        name: [row for row in rows if wording(row.text) not in known]
        for name, rows in found.items()
    }
    return {**split(movies), **further}


def _rated(package: Path, file: str) -> list[LabelledText]:
    """The texts of a file that are not neutral: number, mean rating, text."""
    try:
        with tarfile.open(package / _ARCHIVE) as archive:
            member = archive.extractfile(f"hutto_ICWSM_2014/{file}")
            content = member.read().decode("utf-8-sig") if member else ""
    except (OSError, KeyError, tarfile.TarError, UnicodeDecodeError) as error:
        raise DataError(f"{file} of VADER cannot be read: {error}.") from error
    rows = []
    for line in content.splitlines():
        try:
            _, rating, text = line.split("\t")
            mean = float(rating)
        except ValueError:
            raise DataError(f"{file} of VADER has another line: {line!r}.") from None
        if abs(mean) >= _LEAST:
            rows.append(LabelledText(html.unescape(text), CLASSES[mean > 0]))
    return rows
