"""Where the pairs come from: the file kept here, or the Debian packages."""

import gzip
from pathlib import Path

from applications.datasets.errors import DataError
from applications.datasets.fetch import DebianPackage, debian_package
from applications.datasets.libreoffice_help.extraction import sentence_pairs
from applications.datasets.pairs import Pair

EMBEDDED = Path(__file__).with_name("en-de.tsv.gz")

_COLUMNS = ("page", "source", "target")
_INSTEAD = "Use libreoffice_help/en-de, which needs no network."


def read(path: Path = EMBEDDED) -> list[Pair]:
    """Read the pairs of a file that `write` made."""
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    header, *rows = (tuple(line.split("\t")) for line in text.split("\n")[:-1])
    if header != _COLUMNS:
        raise DataError(f"{path.name} must hold the columns {', '.join(_COLUMNS)}.")
    return [Pair(*row) for row in rows]


def write(pairs: list[Pair], path: Path = EMBEDDED) -> None:
    """Write sorted pairs as gzipped TSV, the same bytes for the same pairs.

    Nothing is quoted: extraction leaves neither tabs nor line breaks in a text.
    """
    lines = ["\t".join(row) for row in (_COLUMNS, *sorted(pairs))]
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def fetch(language: str) -> tuple[list[Pair], str]:
    """Make the pairs of English and `language` from their two Debian packages.

    Returns:
        The pairs, and the version of the packages they were taken from.
    """
    english, other = (
        debian_package(f"libreoffice-help-{code}", _INSTEAD)
        for code in ("en-us", language)
    )
    return sentence_pairs(_pages(english), _pages(other)), english.version


def _pages(package: DebianPackage) -> Path:
    (folder,) = package.root.glob("usr/share/libreoffice/help/*/text")
    return folder
