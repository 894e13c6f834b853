from typing import NamedTuple

import pytest

from applications.datasets import csv_files
from applications.datasets.errors import DataError


class Columns(NamedTuple):
    text: str = "text"
    note: str = "note"


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "my file.csv"
        path.write_text(content, encoding="utf-8")
        return path

    return write


def test_rows_say_where_they_stand(file):
    path = file('text,note\n"a\nb",1\nc,2\n')
    found = list(csv_files.rows(path, Columns()))
    assert found == [
        (f"{path}, line 3", {"text": "a\nb", "note": "1"}),
        (f"{path}, line 4", {"text": "c", "note": "2"}),
    ]


def test_a_column_may_be_optional(file):
    path = file("text\na\n")
    assert len(list(csv_files.rows(path, Columns(), optional=["note"]))) == 1
    with pytest.raises(DataError, match=r"no column 'note'.*data\.note_column=\.\.\.$"):
        list(csv_files.rows(path, Columns()))


def test_the_header_that_is_expected_has_what_is_needed(file):
    with pytest.raises(DataError, match=r"a header such as text\.$"):
        list(csv_files.rows(file(""), Columns(), optional=["note"]))
