"""The builder `caption_folder`: a user's own images, with a file of their captions."""

import sys
from pathlib import Path
from typing import Any, ClassVar

import tensorflow_datasets as tfds

from applications.datasets.caption_builder import CaptionBuilder
from applications.datasets.captioned import Captioned, subject
from applications.datasets.errors import DataError
from applications.datasets.image_folder import (
    ENDINGS,
    FolderConfig,
    named_after,
    split_files,
    split_of,
)

CAPTIONS = "captions.tsv"


class CaptionFolder(CaptionBuilder):
    """A folder of images and a `captions.tsv` of `file<TAB>caption` lines in it.

    PNG, JPEG, BMP and GIF files of any size and mode, stored as they are; UTF-8, no
    header. Several lines of one file are several captions of one image. A file in a
    folder `train`, `validation` or `test` is of that split (in upper or lower case;
    `val`, `valid` and `dev` are validation). Without these an image goes by the hash of
    its file's content (`applications.datasets.pairs.split_name`: 5 % test, 5 %
    validation), so that copies are never on two sides; a split without a folder is
    filled from train by the same rule. Different images with equal captions may be on
    two sides: photographs of two dogs are no leak. An image held out by its folder
    whose copy also stands in train, or in test for one of validation, is left out, and
    so is one without a caption, which is said on standard error.
    """

    VERSION = tfds.core.Version("1.1.0")
    LICENSE = "The user's own."
    IMAGE: ClassVar[dict[str, Any]] = {"shape": (None, None, 3)}

    def _images(self) -> list[Captioned]:
        return read(Path(self.builder_config.path))

    def _split(self, images: list[Captioned]) -> dict[str, list[Captioned]]:
        return split(images)

    def _contents(self, image: Captioned) -> bytes:
        from applications.images.decoding import decode_file

        decode_file(image.path)  # names a file that cannot be read
        return image.path.read_bytes()


def config_of(folder: Path) -> FolderConfig:
    """Name a configuration after a folder, its captions and its files.

    A change of the captions, or of a file by size or time, gives another name, and so
    the set is prepared anew.
    """
    listing = []
    for key, texts in _captions(folder).items():
        state = (folder / key).stat()
        listing.append(f"{key}\t{state.st_size}\t{state.st_mtime_ns}\t{texts}")
    return named_after(folder, listing)


def read(folder: Path) -> list[Captioned]:
    """Read and check a folder with its captions, in the order of the file.

    Raises:
        DataError: There is no folder or no such file in it; the file is empty, not
            UTF-8, or has a line of other than two columns, without a word in its
            caption, or of a file that is no image or not there. Names the line.
    """
    captions = _captions(folder)
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in ENDINGS
    }
    without = len(there - captions.keys())
    if without:
        print(f"Left out {without} images without a caption", file=sys.stderr)
    return [
        Captioned(key, folder / key, tuple(texts)) for key, texts in captions.items()
    ]


def split(images: list[Captioned]) -> dict[str, list[Captioned]]:
    """Split images by their folder or, where that says nothing, by their content.

    Raises:
        DataError: A split is empty or has only copies, or a file cannot be read.
    """
    by_path = {image.path: image for image in images}
    paths = split_files(
        {image.path: split_of(image.key.partition("/")[0]) for image in images}
    )
    return {name: [by_path[path] for path in part] for name, part in paths.items()}


def _captions(folder: Path) -> dict[str, list[str]]:
    """The captions of every file, by its path within the folder."""
    path = folder / CAPTIONS
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}. Expected a folder with images "
            f"and a {CAPTIONS} of `file<TAB>caption` lines."
        ) from error
    if not lines:
        raise DataError(f"{path} is empty: expected `file<TAB>caption` lines.")
    captions: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        key, caption = _columns(line, folder, f"{path}, line {number}")
        captions.setdefault(key, []).append(caption)
    return captions


def _columns(line: bytes, folder: Path, where: str) -> tuple[str, str]:
    try:
        columns = line.decode("utf-8").split("\t")
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is not UTF-8: {error.reason}.") from error
    if len(columns) != 2:
        raise DataError(
            f"{where} must hold two columns, `file<TAB>caption`; it has {len(columns)}."
        )
    name, caption = (column.strip() for column in columns)
    if not subject(caption):
        raise DataError(f"{where} has a caption without a word.")
    key = Path(name).as_posix()
    if Path(key).suffix.lower() not in ENDINGS:
        kinds = ", ".join(ENDINGS)
        raise DataError(
            f"{where}: {name!r} is no image of a kind that is read: {kinds}."
        )
    if not (folder / key).is_file():
        raise DataError(f"{where}: there is no file {name} in {folder}.")
    return key, caption
