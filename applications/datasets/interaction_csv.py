"""The builder `interaction_csv`: a user's own log of who took what, and when."""

import csv
import dataclasses
import datetime
import io
import math
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import tensorflow_datasets as tfds

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


@dataclasses.dataclass(eq=False, kw_only=True)
class LogConfig(tfds.core.BuilderConfig):
    """Names one file; make it with `config_of`.

    Args:
        path: The file to read.
        columns: Its columns.
    """

    path: str = ""
    columns: Columns = dataclasses.field(default_factory=Columns)


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


def config_of(path: Path, columns: Columns) -> LogConfig:
    """Name a configuration after a file, its columns and its content.

    A file that changed gets another name, and so is prepared anew.
    """
    content = "\t".join(columns).encode() + _content(path)
    stem = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    name = f"{stem}-{zlib.crc32(content):08x}"
    return LogConfig(name=name, path=str(path), columns=columns)


def read(path: Path, columns: Columns) -> Rows:
    """Read and check a log.

    Raises:
        DataError: The file is missing, empty or not UTF-8, has not these columns, a row
            of other cells, a time that is none, or no row; names the line.
    """
    try:
        text = _content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: {error.reason}.") from error
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    found: list[Interaction | None] = []
    try:
        _check_header(path, reader.fieldnames, columns)
        for row in reader:
            found.append(_row(f"{path}, line {reader.line_num}", row, columns))
    except csv.Error as error:
        raise DataError(f"{path}, after line {reader.line_num}: {error}.") from error
    rows = [row for row in found if row is not None]
    if not rows:
        raise DataError(f"{path} has no row with a user, an item and a time.")
    return Rows(rows, len(found) - len(rows))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _check_header(path: Path, names: Iterable[str] | None, columns: Columns) -> None:
    if not names:
        raise DataError(f"{path} is empty: expected a header such as user,item,time.")
    for key, name in columns._asdict().items():
        if key != "title" and name not in names:
            raise DataError(
                f"{path} has no column {name!r}; its header names {', '.join(names)}. "
                f"Say which to read: data.{key}_column=..."
            )


def _row(where: str, row: dict, columns: Columns) -> Interaction | None:
    """A row, or nothing where a value is missing."""
    if None in row or None in row.values():
        raise DataError(f"{where} has not as many cells as the header has columns.")
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
