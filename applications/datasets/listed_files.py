"""A user's own folder of files with a list of what is said of each."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from applications.datasets.class_folders import FileKind, FolderConfig, named_after
from applications.datasets.columns import two_columns
from applications.datasets.errors import DataError


class Listing(NamedTuple):
    """A list beside the files: `file<TAB>text` lines; UTF-8, no header.

    Attributes:
        name: Of the list: `"captions.tsv"`.
        kind: Of the files.
        text: What a text is called: `"caption"`.
        words: From a text to its words; a text that has none is refused.
    """

    name: str
    kind: FileKind
    text: str
    words: Callable[[str], str]

    @property
    def lines(self) -> str:
        return f"`file<TAB>{self.text}` lines"


def config_of(folder: Path, listing: Listing) -> FolderConfig:
    """Name a configuration after a folder, its list and its files.

    A change of the list, or of a file by size or time, gives another name, and so the
    set is prepared anew.
    """
    lines = []
    for key, texts in read(folder, listing).items():
        state = (folder / key).stat()
        lines.append(f"{key}\t{state.st_size}\t{state.st_mtime_ns}\t{texts}")
    return named_after(folder, lines)


def read(folder: Path, listing: Listing) -> dict[str, list[str]]:
    """The texts of every listed file, by its path within the folder, in order.

    Raises:
        DataError: There is no folder or no such list in it; the list is empty, not
            UTF-8, or has a line of other than two columns, without a word in its text,
            or of a file that is of another kind or not there. Names the line.
    """
    path = folder / listing.name
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}. Expected a folder with "
            f"{listing.kind.many} and a {listing.name} of {listing.lines}."
        ) from error
    if not lines:
        raise DataError(f"{path} is empty: expected {listing.lines}.")
    texts: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        key, text = _columns(line, folder, listing, f"{path}, line {number}")
        texts.setdefault(key, []).append(text)
    return texts


def say_unlisted(folder: Path, listing: Listing, listed: dict[str, list[str]]) -> None:
    """Count aloud the files of the kind that the list says nothing of."""
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in listing.kind.endings
    }
    without = len(there - listed.keys())
    if without:
        print(
            f"Left out {without} {listing.kind.many} without a {listing.text}",
            file=sys.stderr,
        )


def _columns(
    line: bytes, folder: Path, listing: Listing, where: str
) -> tuple[str, str]:
    name, text = two_columns(line, where, f"file<TAB>{listing.text}")
    if not listing.words(text):
        raise DataError(f"{where} has a {listing.text} without a word.")
    key = Path(name).as_posix()
    kind = listing.kind
    if Path(key).suffix.lower() not in kind.endings:
        raise DataError(
            f"{where}: {name!r} is no {kind.name} of a kind that is read: "
            f"{', '.join(kind.endings)}."
        )
    if not (folder / key).is_file():
        raise DataError(f"{where}: there is no file {name} in {folder}.")
    return key, text
