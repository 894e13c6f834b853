import re
import subprocess
import sys

import pytest
import tensorflow_datasets as tfds

from applications.datasets import load_images as loading
from applications.datasets.load_images import describe, load_images
from applications.datasets.pairs import SPLITS
from applications.errors import UserError
from tests.applications.datasets.messages import one_line


def test_a_folder_is_prepared_once_with_one_line(photos, tmp_path, capfd):
    contents = {path.read_bytes() for path in photos.rglob("*.*")}
    seen = []
    for _ in range(2):
        parts = [load_images(str(photos), split, tmp_path / "data") for split in SPLITS]
        rows = [row for part in parts for row in part.as_numpy_iterator()]
        seen.append([row["image"] for row in rows])
    assert seen[0] == seen[1]
    assert len(seen[0]) == len(contents)
    assert set(seen[0]) == contents
    output, errors = capfd.readouterr()
    assert not output
    assert errors.count("Preparing") == 1


def test_a_folder_is_described(photos, tmp_path):
    assert describe(str(photos), tmp_path / "data") == (
        ("cat", "dog"),
        (None, None, 3),
        "The user's own.",
    )


def test_fashion_mnist_is_ours(tmp_path):
    builder = loading._builder("fashion_mnist", tmp_path)
    assert type(builder).__module__ == "applications.datasets.fashion_mnist"
    info = describe("fashion_mnist", tmp_path)
    assert info.shape == (28, 28, 1)
    assert info.class_names[-1] == "Ankle boot"
    assert info.licence == "MIT"


@pytest.fixture
def counted(pretend_prepared):
    """Sets that are not there count as prepared, of the sizes that are given."""

    def prepare_as(**sizes):
        pretend_prepared(loading, sizes)

    return prepare_as


@pytest.mark.parametrize(("name", "classes"), [("cifar10", 10), ("cifar100", 100)])
def test_online_sets_become_files(name, classes, tmp_path, counted):
    """Shapes only: the network is never asked."""
    from applications.images.decoding import decode

    counted(train=200, test=40)
    with tfds.testing.mock_data(num_examples=3):
        info = describe(name, tmp_path)
        rows = list(load_images(name, "validation", tmp_path))
    assert len(info.class_names) == classes
    assert info.shape == (32, 32, 3)
    assert len(rows) == 3
    for row in rows:
        assert set(row) == {"image", "label"}
        assert decode(row["image"]).shape == (32, 32, 3)


@pytest.mark.usefixtures("no_network")
def test_without_network_an_online_set_fails_at_once(tmp_path):
    with pytest.raises(UserError, match="the network does not answer") as error:
        load_images("cifar10", "train", tmp_path)
    assert "Use fashion_mnist from a Debian package" in one_line(error)


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("fashion_mnits", "train", "Did you mean 'fashion_mnist'"),
        ("image_folder", "train", "the path of a folder of class folders"),
        ("cifar10/xx", "train", "Unknown configuration of cifar10 'xx'."),
        ("imdb_reviews", "train", "no set of labelled images; its examples hold"),
        ("fashion_mnist", "dev", "Valid: train, validation, test"),
        ("./no/such/folder", "train", "no/such/folder is no folder"),
    ],
)
def test_what_does_not_exist_is_one_line(name, split, message, tmp_path):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        load_images(name, split, tmp_path)
    assert one_line(error)


def test_importing_the_loader_imports_no_tensorflow():
    script = (
        "import sys, applications.datasets.load_images;"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
