"""The builder `tsv_pairs`: a user's own file of sentence pairs."""

import dataclasses
import re
import zlib
from pathlib import Path

import tensorflow_datasets as tfds

from applications.datasets.builder import TranslationBuilder
from applications.datasets.columns import two_columns
from applications.datasets.errors import DataError
from applications.datasets.pairs import Pair


@dataclasses.dataclass(eq=False, kw_only=True)
class TsvConfig(tfds.core.BuilderConfig):
    """Names one file; make it with `config_of`.

    Args:
        path: The file to read.
    """

    path: str = ""


class TsvPairs(TranslationBuilder):
    """A file of one sentence pair a line: source, a tab, target; UTF-8, no header.

    A line does not say which document it is from, so the split is by the hash of
    the source text: equal sources are never on two sides of it, but neighbouring
    sentences of one document may be. Nothing is filtered.
    """

    LICENSE = "The user's own."

    def _pairs(self) -> list[Pair]:
        return read(Path(self.builder_config.path))


def config_of(path: Path) -> TsvConfig:
    """Name a configuration after a file and its content.

    A file that changed gets another name, and so is prepared anew.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    stem = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    return TsvConfig(name=f"{stem}-{zlib.crc32(content):08x}", path=str(path))


def read(path: Path) -> list[Pair]:
    """Read and check a file of sentence pairs.

    Raises:
        DataError: The file is empty, not UTF-8, or has a line of other than two
            columns or with an empty one; names the line.
    """
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    if not lines:
        raise DataError(f"{path} is empty: expected `source<TAB>target` lines.")
    return [
        _pair(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)
    ]


def _pair(line: bytes, where: str) -> Pair:
    source, target = two_columns(line, where, "source<TAB>target")
    if not (source and target):
        raise DataError(f"{where} has an empty source or target.")
    return Pair(source, source, target)
