import re
import subprocess
import sys

import pytest
import tensorflow_datasets as tfds

from applications.datasets import load_texts as loading
from applications.datasets.load_texts import describe, load_texts
from applications.datasets.pairs import SPLITS
from applications.errors import UserError
from tests.applications.datasets.messages import one_line


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.csv"
    rows = "".join(f"text {i},{'good' if i % 2 else 'bad'}\n" for i in range(200))
    path.write_text("review,verdict\n" + rows, encoding="utf-8")
    return path


COLUMNS = ("review", "verdict")


def test_a_file_is_prepared_once_with_one_line(file, tmp_path, capfd):
    seen = []
    for _ in range(2):
        parts = [
            load_texts(str(file), split, tmp_path / "data", COLUMNS) for split in SPLITS
        ]
        rows = [row for part in parts for row in part.as_numpy_iterator()]
        seen.append([(row["text"].decode(), int(row["label"])) for row in rows])
    assert seen[0] == seen[1]
    assert sorted(seen[0]) == sorted((f"text {i}", i % 2) for i in range(200))
    output, errors = capfd.readouterr()
    assert not output
    assert errors.count("Preparing") == 1


def test_sets_are_described(file, tmp_path):
    expected = (("bad", "good"), (), "The user's own.")
    assert describe(str(file), tmp_path / "data", COLUMNS) == expected
    vader = (("negative", "positive"), ("tweets", "amazon"), "MIT")
    assert describe("vader", tmp_path / "data") == vader


def test_an_online_set_becomes_texts(tmp_path, pretend_prepared):
    """Shapes only: the network is never asked."""
    pretend_prepared(loading, dict.fromkeys(("train", "test", "unsupervised"), 100))
    with tfds.testing.mock_data(num_examples=3):
        assert describe("imdb_reviews", tmp_path).class_names == ("neg", "pos")
        rows = list(load_texts("imdb_reviews", "validation", tmp_path))
    assert len(rows) == 3
    assert all(set(row) == {"text", "label"} for row in rows)


@pytest.mark.usefixtures("no_network")
def test_without_network_an_online_set_fails_at_once(tmp_path):
    with pytest.raises(UserError, match="the network does not answer") as error:
        load_texts("imdb_reviews", "train", tmp_path)
    assert "Use vader from a PyPI package" in one_line(error)


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("vadre", "train", "Did you mean 'vader'"),
        ("labelled_csv", "train", "the path of a file that ends in .csv"),
        ("vader", "dev", "Valid: train, validation, test, tweets, amazon"),
        ("imdb_reviews", "tweets", "Valid: train, validation, test."),
        ("cifar10", "train", "no set of labelled texts; its examples hold"),
        ("no/such/file.csv", "train", "cannot be read: No such file or directory"),
    ],
)
def test_what_does_not_exist_is_one_line(name, split, message, tmp_path):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        load_texts(name, split, tmp_path)
    assert one_line(error)


def test_importing_the_loader_imports_no_tensorflow():
    script = (
        "import sys, applications.datasets.load_texts;"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
