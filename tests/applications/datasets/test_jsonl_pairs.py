import json
import re

import pytest
import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.jsonl_pairs import read
from applications.datasets.load import load
from applications.datasets.pairs import Pair


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pairs.jsonl"

    def write(content):
        path.write_bytes(content)
        return path

    return write


def test_rows_are_read_in_order_with_their_line_breaks(file):
    first = json.dumps({"source": " one\ntwo ", "target": "1\u2028", "more": [3]})
    path = file(f'\ufeff{first}\r\n\n{{"target": "é", "source": "ż"}}\n'.encode())
    assert read(path) == [Pair("one\ntwo", "one\ntwo", "1"), Pair("ż", "ż", "é")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ' is empty: expected {"source": ..., "target": ...}.'),
        (b"\n \n", "is empty"),
        (b'{"source": "a", "target": "b"}\n[]', ", line 2 must be a JSON object."),
        (b"{", ", line 1 is not JSON: "),
        (b'{"source": "a"}', ", line 1 has no text under 'target'."),
        (b'{"source": 3, "target": "b"}', ", line 1 has no text under 'source'."),
        (b'{"source": " ", "target": "b"}', ", line 1 has no text under 'source'."),
        (b'{"source": "\xe4", "target": "b"}', ", line 1 is not UTF-8"),
        (b'{"source": "a", "target": "\\ud83d"}', " half a character under 'target'."),
    ],
)
def test_bad_files_are_refused_by_name_and_line(file, content, message):
    path = file(content)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        read(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_loads_by_its_path(file, tmp_path):
    rows = [{"source": f"text {i}\nmore", "target": f"{i}"} for i in range(100)]
    path = file("\n".join(map(json.dumps, rows)).encode())
    found = []
    for split in ("train", "validation", "test"):
        found += tfds.as_numpy(load(str(path), split, tmp_path / "data"))
    texts = {(row["source"].decode(), row["target"].decode()) for row in found}
    assert texts == {(row["source"], row["target"]) for row in rows}
