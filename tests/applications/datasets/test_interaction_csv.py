import re

import pytest

from applications.datasets.errors import DataError
from applications.datasets.interaction_builder import PART
from applications.datasets.interaction_csv import (
    Columns,
    InteractionCsv,
    config_of,
    read,
)
from applications.datasets.interactions import Interaction

OTHER = Columns("who", "what", "when", "name")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my log.csv"

    def write(content):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_rows_are_read_in_the_order_of_the_file(file):
    path = file('\ufeffuser,item,time,title\r\nu, i1 ,10,"One, first"\r\nv,i2,9.5,\r\n')
    assert read(path, Columns()).interactions == [
        Interaction("u", "i1", 10.0, "One, first"),
        Interaction("v", "i2", 9.5),
    ]


def test_columns_by_name_and_no_titles(file):
    path = file("x,when,what,who\n1,2,b,a\n")
    assert read(path, OTHER).interactions == [Interaction("a", "b", 2.0)]


def test_rows_with_a_value_missing_are_left_out_and_counted(file):
    lines = ["user,item,time", "u,i,1", ",i,2", "u,NaN,3", "u,j,nan", "u,j,"]
    lines += ["null,j,1", "u,j,inf", "u,j,-Infinity", "u,j,4"]
    rows, missing = read(file("\n".join(lines) + "\n"), Columns())
    assert rows == [Interaction("u", "i", 1.0), Interaction("u", "j", 4.0)]
    assert missing == 7


def test_dates_are_seconds(file):
    lines = ["user,item,time", "u,a,1970-01-02", "u,b,1970-01-01T01:00:00"]
    lines += ["u,c,1970-01-01T01:00:00+01:00", "u,d,1e3"]
    rows, _ = read(file("\n".join(lines) + "\n"), Columns())
    assert [row.time for row in rows] == [86400, 3600, 0, 1000]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty: expected a header such as user,item,time."),
        ("user,item,date\na,b,1\n", "has no column 'time'; its header names user, "),
        ("user,item,date\na,b,1\n", "Say which to read: data.time_column=..."),
        ("user,item,time\n", "has no row with a user, an item and a time."),
        ("user,item,time\n,b,1\n", "has no row with a user, an item and a time."),
        ("user,item,time\na,b,1\nc,d\n", ", line 3 has not as many cells as the hea"),
        ("user,item,time\na,b,1,2\n", ", line 2 has not as many cells as the header"),
        ("user,item,time\na,b,soon\n", ", line 2 has another time: 'soon'. Expected"),
        ('user,item,time\n"a,b\n', ", after line 1: unexpected end of data."),
        (b"user,item,time\n\xe4,b,1\n", " is not UTF-8: invalid continuation byte."),
    ],
)
def test_bad_files_are_refused_by_name_and_line(file, content, message):
    path = file(content)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        read(path, Columns())
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file or directory"):
        config_of(tmp_path / "none.csv", Columns())


def test_another_content_or_column_has_another_name(file):
    first = config_of(file("user,item,time\n"), Columns()).name
    assert first == config_of(file("user,item,time\n"), Columns()).name
    assert first != config_of(file("user,item,times\n"), Columns()).name
    assert first != config_of(file("user,item,time\n"), OTHER).name
    assert re.fullmatch(r"my_log-[0-9a-f]{8}", first)


def test_the_builder_puts_a_log_in_order(file, tmp_path):
    lines = ["user,item,time", "u,a,3", "u,b,1", "u,,2", "u,c,2", "u,b,9"]
    config = config_of(file("\n".join(lines) + "\n"), Columns())
    builder = InteractionCsv(config=config, data_dir=tmp_path / "data")
    builder.download_and_prepare()
    (row,) = builder.as_dataset(split=PART).as_numpy_iterator()
    assert row["items"].tolist() == [2, 3, 1]
    assert builder.info.metadata["missing"] == 1
    assert builder.info.metadata["repeated"] == 1
