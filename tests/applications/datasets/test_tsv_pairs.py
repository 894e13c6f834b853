import re

import pytest

from applications.datasets.errors import DataError
from applications.datasets.pairs import Pair
from applications.datasets.tsv_pairs import config_of, read


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my pairs.tsv"

    def write(content):
        path.write_bytes(content)
        return path

    return write


def test_rows_are_read_in_order_and_grouped_by_source(file):
    path = file("\ufeffgood day\tgrüß Gott\r\nbye \t tschüs\n".encode())
    assert read(path) == [
        Pair("good day", "good day", "grüß Gott"),
        Pair("bye", "bye", "tschüs"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: expected `source<TAB>target` lines."),
        (
            b"a\tb\nc\n",
            ", line 2 must hold two columns, `source<TAB>target`; it has 1.",
        ),
        (
            b"a\tb\tc\n",
            ", line 1 must hold two columns, `source<TAB>target`; it has 3.",
        ),
        (b"a\tb\n\n", ", line 2 must hold two columns, `source<TAB>target`; it has 1."),
        (b"a\t \n", ", line 1 has an empty source or target."),
        (b"a\tb\nc\td\xe4\n", ", line 2 is not UTF-8: unexpected end of data."),
    ],
)
def test_bad_files_are_refused_by_name_and_line(file, content, message):
    path = file(content)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        read(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file or directory"):
        config_of(tmp_path / "none.tsv")


def test_a_changed_file_has_another_name(file):
    first = config_of(file(b"a\tb\n")).name
    assert first == config_of(file(b"a\tb\n")).name
    assert first != config_of(file(b"a\tc\n")).name
    assert re.fullmatch(r"my_pairs-[0-9a-f]{8}", first)
