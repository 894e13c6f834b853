"""The builder `sound_folder`: a user's own recordings, a folder for each class."""

from pathlib import Path

import numpy as np

from applications.datasets import class_folders
from applications.datasets.class_folder_builder import ClassFolderBuilder
from applications.datasets.class_folders import RECORDINGS, FolderConfig
from applications.datasets.waveform import Waveform


class SoundFolder(ClassFolderBuilder):
    """Recordings in `folder/<class>/`, or `folder/{train,validation,test}/<class>/`.

    WAV, FLAC, OGG and MP3 files of any rate and number of channels, stored as one
    channel of 16 kHz. Folders, splits and copies count as in a folder of images
    (`image_folder`): without folders of splits a recording goes by the hash of its
    file's content, so that one speaker may be on two sides. Make folders of splits to
    keep speakers apart.
    """

    KIND = RECORDINGS
    NAME = "audio"

    def _feature(self) -> Waveform:
        return Waveform()

    def _stored(self, path: Path) -> np.ndarray:
        from applications.audio.reader import read_samples

        return read_samples(path)


def config_of(path: Path) -> FolderConfig:
    """Name a configuration after a folder; see `class_folders.config_of`."""
    return class_folders.config_of(path, RECORDINGS)
