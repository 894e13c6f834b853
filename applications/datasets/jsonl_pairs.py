"""The builder `jsonl_pairs`: a user's own file of pairs, for texts of several lines."""

import json
from pathlib import Path
from typing import Any

from applications.datasets.builder import TranslationBuilder
from applications.datasets.errors import DataError
from applications.datasets.pairs import Pair
from applications.datasets.tsv_pairs import config_of

__all__ = ["JsonlPairs", "config_of", "read"]

_KEYS = ("source", "target")


class JsonlPairs(TranslationBuilder):
    """A file of one JSON object a line: `{"source": "...", "target": "..."}`; UTF-8.

    Other keys are passed over, and so are blank lines. The split is by the hash of the
    source text, as that of `tsv_pairs`. Nothing is filtered.
    """

    LICENSE = "The user's own."

    def _pairs(self) -> list[Pair]:
        return read(Path(self.builder_config.path))


def read(path: Path) -> list[Pair]:
    """Read and check a file of pairs.

    Raises:
        DataError: The file has no pairs, or a line is not UTF-8, no JSON object, or
            without a text under one of the two keys; names the line.
    """
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    pairs = [
        _pair(line, f"{path}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    if not pairs:
        raise DataError(f'{path} is empty: expected {{"source": ..., "target": ...}}.')
    return pairs


def _pair(line: bytes, where: str) -> Pair:
    try:
        row: Any = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is not UTF-8: {error.reason}.") from error
    except json.JSONDecodeError as error:
        raise DataError(f"{where} is not JSON: {error.msg}.") from error
    if not isinstance(row, dict):
        raise DataError(f"{where} must be a JSON object.")
    texts = [row.get(key) for key in _KEYS]
    for key, text in zip(_KEYS, texts, strict=True):
        if not (isinstance(text, str) and text.strip()):
            raise DataError(f"{where} has no text under {key!r}.")
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise DataError(f"{where} has half a character under {key!r}.")
    source, target = (text.strip() for text in texts)
    return Pair(source, source, target)
