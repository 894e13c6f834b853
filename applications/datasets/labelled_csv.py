"""The builder `labelled_csv`: a user's own file of texts and their classes."""

import csv
import dataclasses
import io
import re
import zlib
from pathlib import Path
from typing import NamedTuple

import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.labelled_texts import (
    LabelledText,
    LabelledTextBuilder,
    split,
)


class Columns(NamedTuple):
    """What the header calls the texts and their classes."""

    text: str = "text"
    label: str = "label"


@dataclasses.dataclass(eq=False, kw_only=True)
class CsvConfig(tfds.core.BuilderConfig):
    """Names one file; make it with `config_of`.

    Args:
        path: The file to read.
        columns: Its columns.
    """

    path: str = ""
    columns: Columns = dataclasses.field(default_factory=Columns)


class LabelledCsv(LabelledTextBuilder):
    """A CSV file with a header and a text in every row; UTF-8, parted by commas.

    Quoted cells may hold commas and line ends. Other columns are not read. The classes
    are the different labels in the order of their names. Rows are split by the hash of
    the text's wording (letters and numbers, without case and punctuation; 5 % test, 5 %
    validation), so that texts that are alike are never on two sides. Nothing is
    filtered.
    """

    LICENSE = "The user's own."

    def _class_names(self) -> list[str]:
        return sorted({row.label for row in self._rows()})

    def _parts(self) -> dict[str, list[LabelledText]]:
        return split(self._rows())

    def _rows(self) -> list[LabelledText]:
        return read(Path(self.builder_config.path), self.builder_config.columns)


def config_of(path: Path, columns: Columns) -> CsvConfig:
    """Name a configuration after a file, its columns and its content.

    A file that changed gets another name, and so is prepared anew.
    """
    content = "\t".join(columns).encode() + _content(path)
    stem = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    name = f"{stem}-{zlib.crc32(content):08x}"
    return CsvConfig(name=name, path=str(path), columns=columns)


def read(path: Path, columns: Columns) -> list[LabelledText]:
    """Read and check a file of labelled texts.

    Raises:
        DataError: The file is missing, empty or not UTF-8, has not these columns, an
            empty text or label, a row of other cells, or only one class; names the
            line.
    """
    try:
        text = _content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: {error.reason}.") from error
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        _check_header(path, reader.fieldnames, columns)
        rows = [_row(path, reader.line_num, row, columns) for row in reader]
    except csv.Error as error:
        raise DataError(f"{path}, after line {reader.line_num}: {error}.") from error
    classes = {row.label for row in rows}
    if len(classes) < 2:
        one = f"only the class {classes.pop()!r}" if classes else "no row"
        raise DataError(f"{path} has {one} below its header; expected two classes.")
    return rows


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _check_header(path: Path, names, columns: Columns) -> None:
    if not names:
        raise DataError(f"{path} is empty: expected a header such as text,label.")
    missing = [name for name in columns if name not in names]
    if missing:
        raise DataError(
            f"{path} has no column {missing[0]!r}; its header names "
            f"{', '.join(names)}. Say which to read: data.text_column=... "
            "data.label_column=..."
        )


def _row(path: Path, line: int, row: dict, columns: Columns) -> LabelledText:
    where = f"{path}, line {line}"
    if None in row or None in row.values():
        raise DataError(f"{where} has not as many cells as the header has columns.")
    text, label = row[columns.text], row[columns.label].strip()
    if not text.strip() or not label:
        raise DataError(f"{where} has an empty text or label.")
    return LabelledText(text, label)
