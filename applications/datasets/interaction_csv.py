"""The builder `interaction_csv`: a user's own log of who took what, and when."""

import datetime
import math
from pathlib import Path
from typing import NamedTuple

from applications.datasets import csv_files
from applications.datasets.csv_files import CsvConfig
from applications.datasets.errors import DataError
from applications.datasets.interaction_builder import InteractionBuilder
from applications.datasets.interactions import Interaction, Log, sequences

_MISSING = {"", "nan", "na", "n/a", "null", "none", "nat"}  # in any case


class Columns(NamedTuple):
    """What the header calls who, what, when and the item's title."""

    user: str = "user"
    item: str = "item"
    time: str = "time"
    title: str = "title"


class Rows(NamedTuple):
    """The rows of a file, and how many more had no user, item or time."""

    interactions: list[Interaction]
    missing: int


class InteractionCsv(InteractionBuilder):
    """A CSV file with a header and a row for each time that a user took an item.

    UTF-8, parted by commas. Users and items have any names. The time is a number, such
    as seconds since 1970, or a date (`2024-05-01`, `2024-05-01T10:00:00+02:00`; without
    a zone UTC). Titles are optional, and so is their column. Other columns are not
    read.

    Rows without a user, item or time (empty; `NaN`, `NA`, `null`, `none` and the like
    in any case; a time that is infinite) are left out and counted. Rows may come in any
    order; how they are put in order, and what becomes of rows of one user and one item,
    stands at `interactions.sequences`.
    """

    LICENSE = "The user's own."

    def _log(self) -> tuple[Log, int]:
        config = self.builder_config
        rows = read(Path(config.path), config.columns)
        return sequences(rows.interactions), rows.missing


def config_of(path: Path, columns: Columns) -> CsvConfig:
    """Name a configuration after a file; see `csv_files.config_of`."""
    return csv_files.config_of(path, columns)


def read(path: Path, columns: Columns) -> Rows:
    """Read and check a log.

    Raises:
        DataError: As `csv_files.rows`; or a time is none, or there is no row with a
            user, an item and a time.
    """
    found = [
        _row(*each, columns)
        for each in csv_files.rows(path, columns, optional=["title"])
    ]
    rows = [row for row in found if row is not None]
    if not rows:
        raise DataError(f"{path} has no row with a user, an item and a time.")
    return Rows(rows, len(found) - len(rows))


def _row(where: str, row: dict[str, str], columns: Columns) -> Interaction | None:
    """A row, or nothing where a value is missing."""
    user, item, time = (row[name].strip() for name in columns[:3])
    if any(value.lower() in _MISSING for value in (user, item, time)):
        return None
    seconds = _seconds(time, where)
    title = row.get(columns.title, "").strip()
    return Interaction(user, item, seconds, title) if math.isfinite(seconds) else None


def _seconds(time: str, where: str) -> float:
    """A number as it is, a date in seconds since 1970."""
    try:
        return float(time)
    except ValueError:
        pass
    try:
        date = datetime.datetime.fromisoformat(time)
    except ValueError:
        raise DataError(
            f"{where} has another time: {time!r}. Expected a number or a date such as "
            "2024-05-01T10:00:00."
        ) from None
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.timezone.utc)
    return date.timestamp()
