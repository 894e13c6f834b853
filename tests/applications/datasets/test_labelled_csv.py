import re

import pytest

from applications.datasets.errors import DataError
from applications.datasets.labelled_csv import Columns, LabelledCsv, config_of, read
from applications.datasets.labelled_texts import LabelledText

OTHER = Columns("review", "stars")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my texts.csv"

    def write(content):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_rows_are_read_in_order(file):
    path = file('\ufefftext,label\r\n"so, ""good""\nas gold", pos \r\nbad,neg\r\n')
    assert read(path, Columns()) == [
        LabelledText('so, "good"\nas gold', "pos"),
        LabelledText("bad", "neg"),
    ]


def test_columns_by_name(file):
    path = file("id,stars,review\n1,5,fine\n2,1,poor\n")
    assert read(path, OTHER) == [LabelledText("fine", "5"), LabelledText("poor", "1")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty: expected a header such as text,label."),
        ("text,class\na,b\n", "has no column 'label'; its header names text, class. "),
        ("text,label\n", "has no row below its header; expected two classes."),
        ("text,label\na,b\nc,b\n", "has only the class 'b' below its header"),
        ("text,label\na,b\nc\n", ", line 3 has not as many cells as the header"),
        ("text,label\na,b,c\n", ", line 2 has not as many cells as the header"),
        ("text,label\na,b\n ,c\n", ", line 3 has an empty text or label."),
        ("text,label\na,\n", ", line 2 has an empty text or label."),
        ('text,label\n"a,b\n', ", after line 1: unexpected end of data."),
        (b"text,label\n\xe4,b\n", " is not UTF-8: invalid continuation byte."),
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
    first = config_of(file("text,label\n"), Columns()).name
    assert first == config_of(file("text,label\n"), Columns()).name
    assert first != config_of(file("text,labels\n"), Columns()).name
    assert first != config_of(file("text,label\n"), OTHER).name
    assert re.fullmatch(r"my_texts-[0-9a-f]{8}", first)


def test_the_builder_names_the_classes_in_order(file, tmp_path):
    rows = "".join(f"text {i},{'zo' if i % 2 else 'an'}\n" for i in range(200))
    config = config_of(file("text,label\n" + rows), Columns())
    builder = LabelledCsv(config=config, data_dir=tmp_path / "data")
    builder.download_and_prepare()
    assert builder.info.features["label"].names == ["an", "zo"]
    assert builder.info.splits.total_num_examples == 200
