"""The builder `image_folder`: a user's own images, a folder for each class."""

from pathlib import Path

import tensorflow_datasets as tfds

from applications.datasets import class_folders
from applications.datasets.class_folder_builder import ClassFolderBuilder
from applications.datasets.class_folders import IMAGES, FolderConfig


class ImageFolder(ClassFolderBuilder):
    """Images in `folder/<class>/`, or in `folder/{train,validation,test}/<class>/`.

    PNG, JPEG, BMP and GIF files of any size and mode, at any depth below their class.
    Folders of splits are known in upper and lower case; `val`, `valid` and `dev` are
    validation. Without them an image goes by the hash of its file's content
    (`applications.datasets.pairs.split_name`: 5 % test, 5 % validation), so that copies
    are never on two sides; a split folder that is missing is filled from `train` by the
    same rule. An image held out by its folder whose copy also stands in train, or in
    test for one of validation, is left out, which is said on standard error.
    """

    VERSION = tfds.core.Version("1.1.0")
    KIND = IMAGES
    NAME = "image"

    def _feature(self) -> tfds.features.Image:
        return tfds.features.Image(shape=(None, None, 3))

    def _stored(self, path: Path) -> str:
        from applications.images.decoding import decode_file

        decode_file(path)  # names a file that cannot be read
        return str(path)


def config_of(path: Path) -> FolderConfig:
    """Name a configuration after a folder and its files; `class_folders.config_of`."""
    return class_folders.config_of(path, IMAGES)
