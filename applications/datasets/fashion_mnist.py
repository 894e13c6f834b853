"""The builder `debian_fashion_mnist`, which `load_images` calls `fashion_mnist`."""

import gzip
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.fetch import debian_package
from applications.datasets.pairs import split_name

CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)

_INSTEAD = "Use the path of a folder of your own images, folder/<class>/*.png."
_FOLDER = "usr/share/datasets/fashion-mnist"
_SHAPE = (28, 28, 1)
_UNSIGNED_BYTES = 8


class DebianFashionMnist(tfds.core.GeneratorBasedBuilder):
    """Fashion-MNIST: gray pictures of 28 x 28 pixels of ten kinds of clothes.

    By Xiao, Rasul and Vollgraf (2017, arXiv:1708.07747), from the Debian package
    `dataset-fashion-mnist`. Test is the set's own. Validation is the part of the set's
    train whose pixels have a hash in 5-9 (`applications.datasets.pairs.split_name`),
    so that equal pictures are never on two sides.

    Counts, from version 0.0~git20200523.55506a9:

    | split | images |
    |---|---|
    | train | 56,975 |
    | validation | 3,025 |
    | test | 10,000 |

    TFDS has the same pictures, without a validation part, as `fashion_mnist`; this
    builder has a name of its own so that both can lie in one folder.
    """

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {
                    "image": tfds.features.Image(shape=_SHAPE),
                    "label": tfds.features.ClassLabel(names=CLASSES),
                }
            ),
            supervised_keys=("image", "label"),
            homepage="https://github.com/zalandoresearch/fashion-mnist",
            license="MIT",
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from a package
        folder = debian_package("dataset-fashion-mnist", _INSTEAD).root / _FOLDER
        parts = read(folder)
        return {name: self._generate_examples(*part) for name, part in parts.items()}

    def _generate_examples(
        self, images: np.ndarray, labels: np.ndarray
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, (image, label) in enumerate(zip(images, labels, strict=True)):
            yield number, {"image": image, "label": int(label)}


def read(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return images `(N, 28, 28, 1)` and labels `(N,)` of the three splits."""
    images, labels = _read_part(folder, "train")
    held_out = np.array([split_name(i.tobytes()) == "validation" for i in images])
    return {
        "train": (images[~held_out], labels[~held_out]),
        "validation": (images[held_out], labels[held_out]),
        "test": _read_part(folder, "t10k"),
    }


def _read_part(folder: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    return images.reshape(-1, *_SHAPE), labels


def read_idx(path: Path) -> np.ndarray:
    """Read a gzipped IDX file of unsigned bytes, the format of MNIST.

    Two zero bytes, the type of the values, the number of axes, the length of each axis
    as four bytes with the highest first, then the values.

    Raises:
        DataError: The file is missing or not of this format.
    """
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    axes = content[3] if len(content) > 3 else 0
    start = 4 + 4 * axes
    shape = np.frombuffer(content[4:start], ">u4") if len(content) >= start else ()
    expected = start + math.prod(map(int, shape))
    if content[:3] != bytes((0, 0, _UNSIGNED_BYTES)) or len(content) != expected:
        raise DataError(f"{path} is no IDX file of unsigned bytes.")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
