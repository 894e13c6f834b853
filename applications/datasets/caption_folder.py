"""The builder `caption_folder`: a user's own images, with a file of their captions."""

from pathlib import Path
from typing import Any, ClassVar

import tensorflow_datasets as tfds

from applications.datasets import listed_files
from applications.datasets.caption_builder import CaptionBuilder
from applications.datasets.captioned import Captioned, subject
from applications.datasets.class_folders import (
    IMAGES,
    FolderConfig,
    split_files,
    split_of,
)

CAPTIONS = listed_files.Listing("captions.tsv", IMAGES, "caption", subject)


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
    """Name a configuration after a folder; see `listed_files.config_of`."""
    return listed_files.config_of(folder, CAPTIONS)


def read(folder: Path) -> list[Captioned]:
    """Read and check a folder with its captions, in the order of the file.

    Raises:
        DataError: What `listed_files.read` refuses.
    """
    captions = listed_files.read(folder, CAPTIONS)
    listed_files.say_unlisted(folder, CAPTIONS, captions)
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
        {image.path: split_of(image.key.partition("/")[0]) for image in images}, IMAGES
    )
    return {name: [by_path[path] for path in part] for name, part in paths.items()}
