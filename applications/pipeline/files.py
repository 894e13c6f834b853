"""Writing files so that a kill or a full disk never loses what was there before."""

import errno
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from applications.errors import CannotWriteError

_REFUSALS = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling that replaces `path` when the block ends well.

    The block makes a file or a directory at the yielded path, which has the suffix of
    `path`. It reaches the disk before it gets its name, so a file at `path` is at any
    moment either what it was or complete. (A directory steps aside for a moment.)

    Raises:
        CannotWriteError: The disk is full or may not be written; `path` is what it was.
    """
    temporary = path.with_name(f".new-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(temporary)
        yield temporary
        _flush(temporary)
        _rename(temporary, path)
    except Exception as error:
        if not _refused(error):
            raise
        reason = getattr(error, "strerror", None) or "No space left on device"
        raise CannotWriteError(
            f"Cannot write {path}: {reason}. What was saved before is intact; make "
            "room and try again."
        ) from error
    finally:
        _remove(temporary)


def write_text(path: Path, text: str) -> None:
    """Replace `path` by a UTF-8 file that holds `text`."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def names_after(texts: Sequence[str]) -> list[str]:
    """Return a file name for each text: its letters and digits, numbered where alike.

    Examples:
    >>> names_after(["Open it!", "open it", "?"])
    ['open-it', 'open-it-2', 'signs']
    """
    names: list[str] = []
    for text in texts:
        name = re.sub(r"\W+", "-", text.lower()).strip("-")[:40].strip("-") or "signs"
        alike = sum(1 for other in names if re.fullmatch(rf"{name}(-\d+)?", other))
        names.append(f"{name}-{alike + 1}" if alike else name)
    return names


def _refused(error: Exception) -> bool:
    """Whether the file system said no; TensorFlow and HDF5 only tell by their text."""
    known = isinstance(error, OSError) and error.errno in _REFUSALS
    return known or "No space left on device" in str(error)


def _flush(path: Path) -> None:
    """Bring a file, or a directory with all it holds, to the disk."""
    for member in [*path.rglob("*"), path] if path.is_dir() else [path]:
        _sync(member)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _rename(temporary: Path, path: Path) -> None:
    """Give `temporary` its name; a directory's predecessor steps aside first."""
    aside = path.with_name(f".old-{path.name}")
    if path.is_dir():
        _remove(aside)
        path.rename(aside)
    temporary.replace(path)
    _sync(path.parent)
    _remove(aside)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
