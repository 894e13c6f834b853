"""The builder `movielens_100k`: who rated which film, and when."""

import csv
from pathlib import Path
from typing import ClassVar

from applications.datasets.errors import DataError
from applications.datasets.fetch import pypi_wheel
from applications.datasets.interaction_builder import InteractionBuilder
from applications.datasets.interactions import Interaction, Log, sequences

_PACKAGE = ("recbole", "1.2.1")
_SHA256 = "9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407"
_FOLDER = "recbole/dataset_example/ml-100k"
_INSTEAD = "Use movielens/100k-ratings of TFDS, or the path of a CSV file of your own."

_RATINGS = ("user_id:token", "item_id:token", "timestamp:float")
_FILMS = ("item_id:token", "movie_title:token_seq", "release_year:token")


class Movielens100k(InteractionBuilder):
    """Films in the order in which people rated them, whatever the rating.

    MovieLens 100K of GroupLens (Harper and Konstan 2015, "The MovieLens datasets"),
    ratings from September 1997 to April 1998 of people who rated 20 films or more, as
    the PyPI package `recbole` 1.2.1 has it. GroupLens allows research and forbids to
    redistribute, so the file is fetched, never stored here. A rating counts as having
    seen a film. Ratings of one second, of which there are many (people rated lists of
    films), are in the order of the file.

    Each user's last film is the test, the one before it the validation, the rest train
    (`applications.datasets.interactions.held_out`).

    Counts, of version 1.2.1: 943 users, 1,682 films, 20 to 737 ratings of a user.

    | split | ratings |
    |---|---|
    | train | 98,114 |
    | validation | 943 |
    | test | 943 |
    """

    name: ClassVar[str] = "movielens_100k"  # TFDS would leave out the underscore
    HOMEPAGE = "https://grouplens.org/datasets/movielens/100k/"
    LICENSE = "GroupLens: research use, no redistribution"

    def _log(self) -> tuple[Log, int]:
        return sequences(read(pypi_wheel(*_PACKAGE, _SHA256, _INSTEAD))), 0


def read(package: Path) -> list[Interaction]:
    """The ratings of the unpacked package, in its order.

    Raises:
        DataError: A file is missing or not what it should be.
    """
    films = _table(package / _FOLDER / "ml-100k.item", _FILMS)
    titles = {item: _titled(title, year) for item, title, year in films}
    path = package / _FOLDER / "ml-100k.inter"
    try:
        return [
            Interaction(user, item, float(time), titles[item])
            for user, item, time in _table(path, _RATINGS)
        ]
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} has another row: {error}.") from error


def _titled(title: str, year: str) -> str:
    """A film's title as people know it; the file has year and title apart."""
    return f"{title} ({year})" if year.strip() else title


def _table(path: Path, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Columns of a file by name; its cells are parted by tabs and never quoted."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    if not set(names) <= set(rows.fieldnames or ()):
        raise DataError(f"{path} has not the columns {', '.join(names)}.")
    return [tuple(row[name] for name in names) for row in rows]
