import io
import re
import tarfile

import pytest

from applications.datasets import vader
from applications.datasets.errors import DataError
from applications.datasets.fetch import pypi_source
from applications.datasets.labelled_texts import LabelledText, wording
from applications.datasets.pairs import SPLITS, split_name


def write(folder, **files):
    """The package's archive, with these lines in its files."""
    path = folder / vader._ARCHIVE
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, lines in files.items():
            content = "".join(f"{line}\r\n" for line in lines).encode("utf-8-sig")
            member = tarfile.TarInfo(f"hutto_ICWSM_2014/{vader._FILES[name]}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return folder


MOVIES = [f"{i}\t{1.5 - 3 * (i % 2)}\tA film, number {i}." for i in range(300)]
TWEETS = [
    "1\t0.5\tlove &amp; peace",
    "2\t-0.5\tno",
    "3\t0.4999\tit is",
    "4\t-0.49\tit was",
    "5\t3\ta film; NUMBER 7",
    "6\t-2\tlove &amp;  peace",
]


@pytest.fixture
def package(tmp_path):
    return write(tmp_path, movies=MOVIES, tweets=TWEETS, amazon=TWEETS[1:2])


def test_movies_are_split_by_their_wording(package):
    parts = vader.read(package)
    assert sum(len(parts[name]) for name in SPLITS) == len(MOVIES)
    for name in SPLITS:
        assert parts[name]
        for text, label in parts[name]:
            assert split_name(wording(text)) == name
            even = int(re.search(r"\d+", text)[0]) % 2 == 0
            assert label == ("positive" if even else "negative")


def test_neutral_equal_and_known_texts_are_left_out(package):
    parts = vader.read(package)
    assert parts["tweets"] == [
        LabelledText("love & peace", "positive"),
        LabelledText("no", "negative"),
    ]
    assert parts["amazon"] == [LabelledText("no", "negative")]


def test_the_builder_writes_texts_and_labels(package, tmp_path, monkeypatch):
    monkeypatch.setattr(vader, "pypi_source", lambda *_: package)
    builder = vader.Vader(data_dir=tmp_path / "data")
    builder.download_and_prepare()
    assert builder.info.features["label"].names == ["negative", "positive"]
    rows = list(builder.as_dataset(split="tweets").as_numpy_iterator())
    found = {(row["text"].decode(), int(row["label"])) for row in rows}
    assert found == {("love & peace", 1), ("no", 0)}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tweets": ["1\t2"]}, "tweets_GroundTruth.txt of VADER has another line"),
        ({"tweets": ["1\tx\ty"]}, "has another line: '1"),
        ({}, "tweets_GroundTruth.txt of VADER cannot be read"),
    ],
)
def test_other_files_are_refused_by_name(files, message, tmp_path):
    package = write(tmp_path, movies=MOVIES, **files)
    with pytest.raises(DataError, match=message) as error:
        vader.read(package)
    assert "\n" not in str(error.value)


def test_a_missing_archive_is_one_line(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        vader.read(tmp_path)


@pytest.mark.network
def test_counts_of_the_docstring():
    parts = vader.read(pypi_source(*vader._PACKAGE, vader._SHA256, ""))
    rows = re.findall(r"\| (\w+) \| ([\d,]+) \| ([\d,]+) \|", vader.Vader.__doc__)
    stated = {
        name: tuple(int(number.replace(",", "")) for number in numbers)
        for name, *numbers in rows
    }
    found = {
        name: (len(part), sum(row.label == "positive" for row in part))
        for name, part in parts.items()
    }
    assert found == stated
    wordings = {
        name: {wording(row.text) for row in part} for name, part in parts.items()
    }
    for name in SPLITS:
        for other in set(parts) - {name}:
            assert not wordings[name] & wordings[other]
