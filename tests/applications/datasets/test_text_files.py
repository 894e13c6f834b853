import pytest

from applications.datasets import text_files
from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS, split_name
from applications.datasets.text_files import TextFiles, blocks, config_of, files, read


@pytest.fixture
def folder(tmp_path):
    """Sixty documents in two folders, one of them twice, and what is none."""
    root = tmp_path / "my texts"
    for number in range(60):
        path = root / ("a", "b")[number % 2] / f"{number:02}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Document {number}.\nIts end.\n", "utf-8")
    (root / "b" / "copy of 00.txt").write_text("Document 0.\nIts end.\n", "utf-8")
    (root / "notes.md").write_text("no document", "utf-8")
    (root / ".hidden.txt").write_text("no document", "utf-8")
    (root / ".cache").mkdir()
    (root / ".cache" / "x.txt").write_text("no document", "utf-8")
    return root


def test_documents_go_by_what_they_hold(folder):
    parts = read(folder)
    assert sum(map(len, parts.values())) == 61
    for name in SPLITS:
        assert parts[name]
        assert all(split_name(text) == name for text in parts[name])
    order = [path.read_text("utf-8") for path in files(folder)]
    assert parts["train"] == [text for text in order if split_name(text) == "train"]


def test_a_file_is_cut_into_blocks_in_their_order(tmp_path):
    path = tmp_path / "book.txt"
    lines = [f"Line {number} of the book." for number in range(1000)]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    parts = read(path)
    (train,), (validation,), (test,) = (parts[name] for name in SPLITS)
    assert train.startswith("Line 0 of")
    assert test.endswith("999 of the book.")
    whole = " ".join([train, validation, test])
    assert whole.split() == " ".join(lines).split()
    assert "\r" not in train
    for part, share in ((train, 0.9), (validation, 0.05), (test, 0.05)):
        assert abs(len(part) / len(whole) - share) < 0.01


def test_a_text_of_one_line_is_cut_between_words():
    text = " ".join(f"word{number}" for number in range(500))
    pieces = blocks(text).values()
    assert all(len(piece.split()) > 20 for piece in pieces)
    assert " ".join(pieces) == text


def test_the_builder_keeps_the_order_and_notices_changes(folder, tmp_path):
    def rows():
        builder = TextFiles(config=config_of(folder), data_dir=tmp_path / "data")
        builder.download_and_prepare()
        found = builder.as_dataset(split="train").as_numpy_iterator()
        return [row["text"].decode() for row in found]

    assert rows() == read(folder)["train"]
    before = rows()
    changed = files(folder)[0]
    changed.write_text("Document 0, second edition.\n", "utf-8")
    assert rows() == read(folder)["train"] != before


def case_of(name, tmp_path):
    path = tmp_path / "x.txt"
    if name == "not there":
        return path
    if name == "no file":
        return tmp_path
    content = {"other": b"caf\xe9 au lait", "empty": b" \n ", "one": b"word"}
    path.write_bytes(content.get(name, b"some words here"))
    if name == "large":
        return path
    return path if name in content else tmp_path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("not there", "no such file or folder"),
        ("no file", "has no .txt file in it"),
        ("other", "x.txt is not UTF-8"),
        ("empty", "has no text in it"),
        ("one", "too few words to be split: none is for validation"),
        ("few", "too few files to be split: none is for"),
        ("large", "larger than 1 GiB"),
    ],
)
def test_what_cannot_be_read_is_one_line(name, message, tmp_path, monkeypatch):
    path = case_of(name, tmp_path)
    if name == "large":
        monkeypatch.setattr(text_files, "_MOST_BYTES", 10)
    with pytest.raises(DataError, match=message) as error:
        read(path)
    assert "\n" not in str(error.value)
