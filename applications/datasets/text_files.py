"""The builder `text_files`: a user's own text, a file or a folder of files."""

from collections.abc import Iterator
from pathlib import Path

import tensorflow_datasets as tfds

from applications.datasets.class_folders import FolderConfig, named_after
from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS, split_name

ENDING = ".txt"

_MOST_BYTES = 2**30  # an example of TFDS has room for twice as much
_HELD_OUT = {"validation": 90, "test": 95}  # per cent of a text that stand before it


class TextFiles(tfds.core.GeneratorBasedBuilder):
    """A `.txt` file, or the `.txt` files at any depth of a folder; UTF-8.

    Each file of a folder is one document, and goes by the hash of its content
    (`applications.datasets.pairs.split_name`: 5 % test, 5 % validation), so that copies
    are never on two sides. A single file is cut into three blocks: its last 5 % are
    test, the 5 % before them validation, the rest train; each is one document. Cuts are
    at the next blank or line end, which is left out. Lines are never shuffled or
    dealt out: what neighbours a line would tell what it says.

    Files are in the order of their names. Line ends are made those of Unix; nothing
    else is changed.
    """

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict({"text": tfds.features.Text()}),
            license="The user's own.",
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; these are here
        parts = read(Path(self.builder_config.path))
        return {name: self._generate_examples(part) for name, part in parts.items()}

    def _generate_examples(self, part: list[str]) -> Iterator[tuple[int, dict]]:
        for number, text in enumerate(part):
            yield number, {"text": text}


def config_of(path: Path) -> FolderConfig:
    """Name a configuration after a file, or a folder and its files.

    A file that is new, gone or changed (by size and time) gives another name, and so
    the set is prepared anew.

    Raises:
        DataError: There is no such file, or no `.txt` file in the folder.
    """
    listing = []
    for file in files(path):
        state = file.stat()
        listing.append(f"{file}\t{state.st_size}\t{state.st_mtime_ns}")
    return named_after(path, listing)


def files(path: Path) -> list[Path]:
    """The file, or the `.txt` files of a folder in order, hidden ones aside.

    Raises:
        DataError: There is none.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise DataError(f"{path} cannot be read: there is no such file or folder.")
    found = [file for file in sorted(path.rglob(f"*{ENDING}")) if file.is_file()]
    found = [file for file in found if not _is_hidden(file.relative_to(path))]
    if not found:
        raise DataError(f"{path} has no {ENDING} file in it.")
    return found


def read(path: Path) -> dict[str, list[str]]:
    """The documents of every split.

    Raises:
        DataError: A file cannot be read, is not UTF-8, larger than 1 GiB or empty, or
            there is too little to be split.
    """
    if path.is_file():
        parts = {name: [text] for name, text in blocks(_text(path)).items() if text}
        few, more = "words", ""
    else:
        parts = {}
        for text in map(_text, files(path)):
            parts.setdefault(split_name(text), []).append(text)
        few, more = "files", ", or join them into one, which is cut into blocks"
    for name in SPLITS:
        if name not in parts:
            raise DataError(
                f"{path} has too few {few} to be split: none is for {name}, which "
                f"gets {'90' if name == 'train' else '5'} of 100. Add some{more}."
            )
    return parts


def blocks(text: str) -> dict[str, str]:
    """Cut a text into its first 90 %, the next 5 % and the last 5 %, about.

    Examples:
    >>> parts = blocks(" ".join("abcdefghijklmnopqrst"))
    >>> parts["train"], parts["validation"], parts["test"]
    ('a b c d e f g h i j k l m n o p q r', 's', 't')
    """
    text = text.strip()
    first, second = (_blank(text, len(text) * n // 100) for n in _HELD_OUT.values())
    pieces = text[:first], text[first:second], text[second:]
    return dict(zip(SPLITS, map(str.strip, pieces), strict=True))


def _blank(text: str, start: int) -> int:
    """Where the next blank is from `start` on, or the text's end."""
    ahead = (n for n in range(start, len(text)) if text[n].isspace())
    return next(ahead, len(text))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(f"{path} is larger than 1 GiB. Cut it into several files.")
        text = path.read_text(encoding="utf-8-sig")  # line ends become \n
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: {error.reason}.") from error
    if not text.strip():
        raise DataError(f"{path} has no text in it.")
    return text


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
