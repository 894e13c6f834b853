import re
import subprocess
import sys

import pytest
import tensorflow_datasets as tfds

from applications.datasets import load_documents as loading
from applications.datasets.load_documents import licence, load_documents
from applications.datasets.pairs import SPLITS
from applications.errors import UserError
from tests.applications.datasets.messages import one_line


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text(" ".join(f"word{n}" for n in range(300)), encoding="utf-8")
    return path


def test_a_file_is_prepared_once_with_one_line(file, tmp_path, capfd):
    seen = []
    for _ in range(2):
        parts = [
            load_documents(str(file), split, tmp_path / "data") for split in SPLITS
        ]
        rows = [row for part in parts for row in part.as_numpy_iterator()]
        assert all(set(row) == {"text"} for row in rows)
        seen.append(" ".join(row["text"].decode() for row in rows))
    assert seen == [file.read_text("utf-8")] * 2
    output, errors = capfd.readouterr()
    assert not output
    assert errors.count("Preparing") == 1


def test_a_folder_of_files_is_read(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.txt").write_text(f"Document {number}.", encoding="utf-8")
    parts = [load_documents(str(folder), split, tmp_path / "data") for split in SPLITS]
    assert sum(map(len, parts)) == 60


def test_an_online_set_becomes_documents(tmp_path, pretend_prepared):
    """Shapes only: the network is never asked."""
    pretend_prepared(loading, dict.fromkeys(("train", "test"), 100))
    with tfds.testing.mock_data(num_examples=3):
        for split in SPLITS:
            rows = list(load_documents("lm1b", split, tmp_path))
            assert len(rows) == 3
            assert all(set(row) == {"text"} for row in rows)


def test_licences_are_stated(file, tmp_path):
    assert licence(str(file), tmp_path) == "The user's own."
    assert licence("jane_austen", tmp_path).startswith("Public domain")


@pytest.mark.usefixtures("no_network")
def test_without_network_an_online_set_fails_at_once(tmp_path):
    with pytest.raises(UserError, match="the network does not answer") as error:
        load_documents("lm1b", "train", tmp_path)
    assert "Use jane_austen from a Debian package" in one_line(error)


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("jane_austin", "train", "Did you mean 'jane_austen'"),
        ("book.md", "train", "the path of a file that ends in .txt"),
        ("jane_austen", "dev", "Valid: train, validation, test"),
        ("cifar10", "train", "no set of texts; its examples hold"),
        ("no/such/file.txt", "train", "there is no such file or folder"),
    ],
)
def test_what_does_not_exist_is_one_line(name, split, message, tmp_path):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        load_documents(name, split, tmp_path)
    assert one_line(error)


def test_importing_the_loader_imports_no_tensorflow():
    script = (
        "import sys, applications.datasets.load_documents;"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
