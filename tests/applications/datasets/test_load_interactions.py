import re
import subprocess
import sys

import pytest
import tensorflow_datasets as tfds

from applications.datasets import load_interactions as loading
from applications.datasets.load_interactions import licence, load_interactions
from applications.errors import UserError
from tests.applications.datasets.messages import one_line

COLUMNS = ("who", "what", "when", "name")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "log.csv"
    rows = "".join(
        f"{user},{item},{item},film {item}\n" for user in (2, 10) for item in (30, 5, 7)
    )
    path.write_text(
        "who,what,when,name\n" + rows + "2,,1,\n2,5,99,\n", encoding="utf-8"
    )
    return path


def test_a_file_is_prepared_once_with_one_line(file, tmp_path, capfd):
    for _ in range(2):
        log, missing = load_interactions(str(file), tmp_path / "data", COLUMNS)
        assert log.catalogue.names == ("", "5", "7", "30")
        assert log.catalogue.titles == ("", "film 5", "film 7", "film 30")
        assert [history.user for history in log.histories] == ["2", "10"]
        for history in log.histories:
            assert history.items.tolist() == [1, 2, 3]
            assert history.times.tolist() == [5, 7, 30]
        assert (log.repeated, missing) == (1, 1)
    output, errors = capfd.readouterr()
    assert not output
    assert errors.count("Preparing") == 1


def test_licences(file, tmp_path):
    assert licence(str(file), tmp_path, COLUMNS) == "The user's own."
    assert "no redistribution" in licence("movielens_100k", tmp_path)


def test_ratings_of_tfds_become_histories(tmp_path, pretend_prepared):
    """Shapes only: the network is never asked."""
    pretend_prepared(loading, {"train": 50})
    with tfds.testing.mock_data(num_examples=50):
        log, missing = load_interactions("movielens/1m-ratings", tmp_path)
    assert missing == 0
    kept = sum(len(history.items) for history in log.histories)
    assert kept + log.repeated == 50
    assert log.catalogue.num_items > 0
    for history in log.histories:
        assert (history.times[1:] >= history.times[:-1]).all()


@pytest.mark.usefixtures("no_network")
def test_without_network_an_online_set_fails_at_once(tmp_path):
    with pytest.raises(UserError, match="the network does not answer") as error:
        load_interactions("movielens/100k-ratings", tmp_path)
    assert "Use movielens_100k from a PyPI package" in one_line(error)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("movielens_100", "Did you mean 'movielens_100k'"),
        ("interaction_csv", "the path of a file that ends in .csv"),
        ("movielens/2m-ratings", "Unknown configuration of movielens '2m-ratings'"),
        (
            "movielens/1m-movies",
            "is no log of users and items; its examples hold movie",
        ),
        ("no/such/file.csv", "cannot be read: No such file or directory"),
    ],
)
def test_what_does_not_exist_is_one_line(name, message, tmp_path):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        load_interactions(name, tmp_path)
    assert one_line(error)


def test_importing_the_loader_imports_no_tensorflow():
    script = (
        "import sys, applications.datasets.load_interactions;"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
