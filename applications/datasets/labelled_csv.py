"""The builder `labelled_csv`: a user's own file of texts and their classes."""

from pathlib import Path
from typing import NamedTuple

from applications.datasets import csv_files
from applications.datasets.csv_files import CsvConfig
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
    """Name a configuration after a file; see `csv_files.config_of`."""
    return csv_files.config_of(path, columns)


def read(path: Path, columns: Columns) -> list[LabelledText]:
    """Read and check a file of labelled texts.

    Raises:
        DataError: As `csv_files.rows`; or there is an empty text or label, or only one
            class.
    """
    rows = [_row(*found, columns) for found in csv_files.rows(path, columns)]
    classes = {row.label for row in rows}
    if len(classes) < 2:
        one = f"only the class {classes.pop()!r}" if classes else "no row"
        raise DataError(f"{path} has {one} below its header; expected two classes.")
    return rows


def _row(where: str, row: dict[str, str], columns: Columns) -> LabelledText:
    text, label = row[columns.text], row[columns.label].strip()
    if not text.strip() or not label:
        raise DataError(f"{where} has an empty text or label.")
    return LabelledText(text, label)
