"""A user's own files in a folder for each class: which there are, and their splits."""

import dataclasses
import hashlib
import re
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS, split_name

# Names of the folders of splits, in lower case.
_SPLIT_FOLDERS = {name: name for name in SPLITS} | dict.fromkeys(
    ("val", "valid", "dev"), "validation"
)
_IGNORED = ("thumbs.db", "desktop.ini")  # and what is hidden by a dot


class FileKind(NamedTuple):
    """Files of one kind, for what errors say of them.

    Attributes:
        one: `"an image"`.
        many: `"images"`.
        endings: Of their names, in lower case; the first one stands in examples.
    """

    one: str
    many: str
    endings: tuple[str, ...]

    @property
    def name(self) -> str:
        """`"image"`."""
        return self.one.split()[-1]

    @property
    def example(self) -> str:
        """Where such files are expected."""
        return f"<class>/*{self.endings[0]}"


IMAGES = FileKind("an image", "images", (".png", ".jpg", ".jpeg", ".bmp", ".gif"))
RECORDINGS = FileKind("a recording", "recordings", (".wav", ".flac", ".ogg", ".mp3"))


@dataclasses.dataclass(eq=False, kw_only=True)
class FolderConfig(tfds.core.BuilderConfig):
    """Names one folder; make it with `config_of`.

    Args:
        path: The folder to read.
    """

    path: str = ""


class LabelledFile(NamedTuple):
    """A file, its class, and the split whose folder it is in, if any."""

    path: Path
    label: str
    split: str | None


def config_of(path: Path, kind: FileKind) -> FolderConfig:
    """Name a configuration after a folder and its files.

    A file that is new, gone or changed (by size and time) gives another name, and so
    the set is prepared anew.
    """
    listing = []
    for file in files(path, kind):
        state = file.path.stat()
        name = file.path.relative_to(path).as_posix()
        listing.append(f"{name}\t{state.st_size}\t{state.st_mtime_ns}")
    return named_after(path, listing)


def named_after(folder: Path, listing: Iterable[str]) -> FolderConfig:
    """Name a configuration after a folder and a line for each thing it is made of."""
    stem = re.sub(r"\W", "_", folder.resolve().name, flags=re.ASCII)
    digest = zlib.crc32("\n".join(listing).encode("utf-8", "surrogateescape"))
    return FolderConfig(name=f"{stem}-{digest:08x}", path=str(folder))


def files(folder: Path, kind: FileKind) -> list[LabelledFile]:
    """List the files of a folder in the order of their paths.

    Raises:
        DataError: The folder is missing, or has fewer than two classes, a class
            without a file, a folder beside those of splits, or a file of another
            kind, in the wrong place or behind a broken link; names it.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; expected folder/{kind.example}.")
    parents = _parents(folder)
    for parent in (folder, *(parent for _, parent in parents)):
        _check_beside_classes(parent, kind)
    found = [
        LabelledFile(path, label.name, split)
        for split, parent in parents
        for label in _folders(parent)
        for path in _inside(label, kind)
    ]
    names = class_names(found)
    if len(names) < 2:
        has = f"has one class, {names[0]}" if names else "has no class folders"
        raise DataError(
            f"{folder} {has}; expected two or more: folder/{kind.example}, or "
            f"folder/{{train,validation,test}}/{kind.example}."
        )
    return found


def split_of(folder: str) -> str | None:
    """The split that a folder of this name stands for, if any.

    Examples:
    >>> split_of("Val"), split_of("photos")
    ('validation', None)
    """
    return _SPLIT_FOLDERS.get(folder.lower())


def class_names(found: Iterable[LabelledFile]) -> list[str]:
    """The classes in the order of their names, which is that of their labels."""
    return sorted({file.label for file in found})


def split(found: list[LabelledFile], kind: FileKind) -> dict[str, list[LabelledFile]]:
    """Split files by their folder or, where that says nothing, by their content.

    Raises:
        DataError: A split is empty, has only copies, or train lacks a class.
    """
    by_path = {file.path: file for file in found}
    paths = split_files({file.path: file.split for file in found}, kind)
    parts = {name: [by_path[path] for path in part] for name, part in paths.items()}
    trained = class_names(parts["train"])
    missing = [name for name in class_names(found) if name not in trained]
    if missing:
        raise DataError(f"The class {missing[0]} has no {kind.name} to train on.")
    return parts


def split_files(
    given: Mapping[Path, str | None],
    kind: FileKind,
    keys: Mapping[Path, str] | None = None,
) -> dict[str, list[Path]]:
    """Split files by the split whose folder each is in, if any, or by their hash.

    A split that no file is in is filled from the files of train and of no split.

    Args:
        given: The split of every file.
        kind: What they are.
        keys: What is hashed for each, by default its content. Copies held out by their
            folder are left out whatever it is.

    Raises:
        DataError: A split is empty or has only copies, or a file cannot be read.
    """
    parts: dict[str, list[Path]] = {name: [] for name in SPLITS}
    contents = {path: _content(path) for path in given}
    hashed = contents if keys is None else keys
    there = set(given.values())
    for path, own in given.items():
        drawn = split_name(hashed[path])
        if own not in ("validation", "test"):
            own = "train" if drawn in there else drawn
        parts[own].append(path)
    _drop_copies(parts, contents, kind)
    for name, part in parts.items():
        if not part:
            raise DataError(
                f"There are too few {kind.many} to be split by their hash: none is for "
                f"{name}. Add {kind.many}, or make folders train, validation and test."
            )
    return parts


def _parents(folder: Path) -> list[tuple[str | None, Path]]:
    """The folders that hold class folders, each with the split it stands for.

    They are splits if `train` holds folders itself. A class may have that name too,
    with its files directly inside.
    """
    found = [(split_of(path.name), path) for path in _folders(folder)]
    if not any(name == "train" and _folders(path) for name, path in found):
        return [(None, folder)]
    for name, path in found:
        if name is None:
            raise DataError(
                f"{path} is no split, but train beside it holds folders of classes. "
                "Move it away; or, if train is a class, move its files out of its "
                "folders."
            )
    return found


def _folders(folder: Path) -> list[Path]:
    return [path for path in _visible(folder, "*") if path.is_dir()]


def _visible(folder: Path, pattern: str) -> list[Path]:
    """What matches in a folder, in order, without what systems hide there."""
    found = [
        path
        for path in sorted(folder.glob(pattern))
        if path.name.lower() not in _IGNORED
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    for path in found:
        if not path.exists():
            raise DataError(f"{path} links to what is not there. Mend or remove it.")
    return found


def _check_beside_classes(parent: Path, kind: FileKind) -> None:
    for path in _visible(parent, "*"):
        if path.suffix.lower() in kind.endings and path.is_file():
            raise DataError(
                f"{path} is in no folder of a class. Move it into one, or away."
            )


def _inside(label: Path, kind: FileKind) -> list[Path]:
    """The files of a class, at any depth."""
    inside = _visible(label, "**/*")
    for path in inside:
        if path.is_dir() and path.is_symlink():
            raise DataError(
                f"{path} is a link to a folder, which is not followed. Copy the folder."
            )
    found = [path for path in inside if path.is_file()]
    for path in found:
        if path.suffix.lower() not in kind.endings:
            raise DataError(
                f"{path} is none of the kinds of {kind.name} that are read: "
                f"{', '.join(kind.endings)}. Convert it, or move it away."
            )
    if not found:
        raise DataError(f"{label} is a class without {kind.one}. Fill or remove it.")
    return found


def _content(path: Path) -> bytes:
    """A key for the content: equal for equal files, and small."""
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _drop_copies(
    parts: dict[str, list[Path]], contents: dict[Path, bytes], kind: FileKind
) -> None:
    """Leave out what is held out although its copy stands in train, or in test."""
    seen = {contents[path] for path in parts["train"]}
    # Test goes first: of two copies it keeps its own.
    for name, others in (("test", "train"), ("validation", "train or test")):
        kept = [path for path in parts[name] if contents[path] not in seen]
        left_out = len(parts[name]) - len(kept)
        if left_out and not kept:
            raise DataError(
                f"Every {kind.name} of {name} also stands in {others}. Put others into "
                f"its folder, or remove the folder: then {name} is taken from train."
            )
        if left_out:
            print(
                f"Left out {left_out} {kind.many} of {name} that also stand in "
                f"{others}",
                file=sys.stderr,
            )
        parts[name] = kept
        seen.update(contents[path] for path in kept)
