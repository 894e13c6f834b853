import gzip
import re

import numpy as np
import pytest

from applications.datasets.errors import DataError
from applications.datasets.fashion_mnist import (
    CLASSES,
    DebianFashionMnist,
    read,
    read_idx,
)
from applications.datasets.fetch import DebianPackage, debian_package
from applications.datasets.pairs import split_name

FOLDER = "usr/share/datasets/fashion-mnist"
TRAIN, TEST = 211, 13


def idx(array):
    axes = b"".join(length.to_bytes(4, "big") for length in array.shape)
    return bytes((0, 0, 8, array.ndim)) + axes + array.tobytes()


@pytest.fixture
def package(tmp_path):
    """A small set of random pictures, in the package's files; two are equal."""
    rng = np.random.default_rng(0)
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for part, count in (("train", TRAIN), ("t10k", TEST)):
        images = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        images[1] = images[0]
        labels = np.arange(count, dtype=np.uint8) % 10
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            content = gzip.compress(idx(array))
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(content)
    return DebianPackage(tmp_path, "1")


def test_idx_files_are_read_in_the_order_of_their_axes(tmp_path):
    array = np.arange(2 * 3 * 5, dtype=np.uint8).reshape(2, 3, 5)
    (tmp_path / "file.gz").write_bytes(gzip.compress(idx(array)))
    np.testing.assert_array_equal(read_idx(tmp_path / "file.gz"), array)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no gzip", "file.gz cannot be read: Not a gzipped file"),
        (gzip.compress(b""), "file.gz is no IDX file of unsigned bytes."),
        (gzip.compress(b"\0\0\x08\x02\0\0"), "is no IDX file"),
        (gzip.compress(b"\0\0\x08\x01\0\0\0\x03ab"), "is no IDX file"),
        (gzip.compress(b"\0\0\x0d\x01\0\0\0\x02ab"), "is no IDX file"),
    ],
)
def test_other_files_are_refused_by_name(content, message, tmp_path):
    (tmp_path / "file.gz").write_bytes(content)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        read_idx(tmp_path / "file.gz")
    assert "\n" not in str(error.value)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(DataError, match=r"none\.gz cannot be read: "):
        read_idx(tmp_path / "none.gz")


def test_validation_is_carved_from_train_by_pixels(package):
    parts = read(package.root / FOLDER)
    counts = {name: len(images) for name, (images, _) in parts.items()}
    assert counts["train"] + counts["validation"] == TRAIN
    assert counts["validation"] > 0
    assert counts["test"] == TEST
    for name in ("train", "validation"):
        images, labels = parts[name]
        assert len(images) == len(labels)
        for image in images:
            held_out = split_name(image.tobytes()) == "validation"
            assert held_out == (name == "validation")


def test_the_builder_writes_pictures_and_labels(package, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "applications.datasets.fashion_mnist.debian_package", lambda *_: package
    )
    builder = DebianFashionMnist(data_dir=tmp_path / "data")
    builder.download_and_prepare()
    assert builder.info.features["label"].names == list(CLASSES)
    images, labels = read(package.root / FOLDER)["test"]
    rows = list(builder.as_dataset(split="test").as_numpy_iterator())
    written = {(row["image"].tobytes(), row["label"]) for row in rows}
    expected = {
        (image.tobytes(), label) for image, label in zip(images, labels, strict=True)
    }
    assert len(rows) == TEST
    assert written == expected


@pytest.mark.network
def test_counts_of_the_docstring():
    package = debian_package("dataset-fashion-mnist", "")
    if package.version != "0.0~git20200523.55506a9-1":
        pytest.skip(f"the machine's sources offer version {package.version}")
    parts = read(package.root / FOLDER)
    assert {name: len(images) for name, (images, _) in parts.items()} == {
        "train": 56_975,
        "validation": 3_025,
        "test": 10_000,
    }
    pictures = {
        name: {image.tobytes() for image in images}
        for name, (images, _) in parts.items()
    }
    assert not pictures["train"] & (pictures["validation"] | pictures["test"])
