"""A user's own CSV file with a header: one name for each content, and its rows."""

import csv
import dataclasses
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tensorflow_datasets as tfds

from applications.datasets.errors import DataError


@dataclasses.dataclass(eq=False, kw_only=True)
class CsvConfig(tfds.core.BuilderConfig):
    """Names one file; make it with `config_of`.

    Args:
        path: The file to read.
        columns: What its header calls the columns, a named tuple of strings.
    """

    path: str = ""
    columns: Any = ()


def config_of(path: Path, columns: Any) -> CsvConfig:
    """Name a configuration after a file, its columns and its content.

    A file that changed gets another name, and so is prepared anew.
    """
    content = "\t".join(columns).encode() + _content(path)
    stem = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    name = f"{stem}-{zlib.crc32(content):08x}"
    return CsvConfig(name=name, path=str(path), columns=columns)


def rows(
    path: Path, columns: Any, optional: Iterable[str] = ()
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield where each row stands, for errors, and its cells by column.

    UTF-8, parted by commas; quoted cells may hold commas and line ends.

    Args:
        path: The file.
        columns: Its columns, as in `CsvConfig`.
        optional: Fields of `columns` that the file may lack.

    Raises:
        DataError: The file is missing, empty or not UTF-8, lacks a column, or has a row
            of other cells; names the line.
    """
    try:
        text = _content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: {error.reason}.") from error
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    needed = [field for field in columns._fields if field not in optional]
    try:
        _check_header(path, reader.fieldnames, columns, needed)
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                raise DataError(
                    f"{where} has not as many cells as the header has columns."
                )
            yield where, row
    except csv.Error as error:
        raise DataError(f"{path}, after line {reader.line_num}: {error}.") from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _check_header(
    path: Path, names: Iterable[str] | None, columns: Any, needed: list[str]
) -> None:
    if not names:
        example = ",".join(needed)
        raise DataError(f"{path} is empty: expected a header such as {example}.")
    missing = [field for field in needed if getattr(columns, field) not in names]
    if missing:
        raise DataError(
            f"{path} has no column {getattr(columns, missing[0])!r}; its header names "
            f"{', '.join(names)}. Say which to read: "
            + " ".join(f"data.{field}_column=..." for field in missing)
        )
