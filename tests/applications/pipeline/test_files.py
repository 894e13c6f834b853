import errno
import os
import resource

import pytest

from applications.errors import UserError
from applications.pipeline import files


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def fail_halfway(path, error):
    with files.replacing(path) as temporary:
        temporary.write_text("half")
        raise error


def test_write_text_makes_directories_and_replaces(tmp_path):
    path = tmp_path / "a" / "b.txt"
    files.write_text(path, "eins")
    files.write_text(path, "zwei ü")
    assert path.read_text(encoding="utf-8") == "zwei ü"
    assert names(path.parent) == ["b.txt"]


def test_the_old_file_stays_until_the_block_ends(tmp_path):
    path = tmp_path / "model.keras"
    path.write_text("old")
    with files.replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.suffix == ".keras"
    assert path.read_text() == "new"


def test_names_are_letters_and_digits_and_never_alike():
    texts = ["A B!", "a/b", "a b", "ab", "\u00e4" * 60, "../"]
    found = files.names_after(texts)
    assert found == ["a-b", "a-b-2", "a-b-3", "ab", "\u00e4" * 40, "signs"]


def test_an_exception_leaves_what_was_there(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(KeyError):
        fail_halfway(path, KeyError())
    assert path.read_text() == "old"
    assert names(tmp_path) == ["x"]


def test_a_directory_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "1"
    for content in ("old", "new"):
        with files.replacing(path) as temporary:
            (temporary / "deep").mkdir(parents=True)
            (temporary / "deep" / content).write_text(content)
    assert names(path / "deep") == ["new"]
    assert names(tmp_path) == ["1"]


def test_what_a_killed_write_left_is_not_in_the_way(tmp_path):
    (tmp_path / ".new-1").mkdir()
    (tmp_path / ".new-1" / "half").write_text("")
    (tmp_path / ".old-1").mkdir()
    with files.replacing(tmp_path / "1") as temporary:
        temporary.mkdir()
    assert names(tmp_path / "1") == []


def test_data_reaches_the_disk_before_the_name(tmp_path, monkeypatch):
    calls = []
    sync, replace = os.fsync, type(tmp_path).replace
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append("sync"), sync(fd)))
    monkeypatch.setattr(
        type(tmp_path),
        "replace",
        lambda self, to: (calls.append("name"), replace(self, to)),
    )
    files.write_text(tmp_path / "x", "text")
    assert calls == ["sync", "name", "sync"]


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("INTERNAL: write failed; No space left on device [Op:Save]"),
    ],
)
def test_a_full_disk_is_one_clear_line(tmp_path, error):
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(UserError) as raised:
        fail_halfway(path, error)
    assert str(raised.value) == (
        f"Cannot write {path}: No space left on device. What was saved before is "
        "intact; make room and try again."
    )
    assert path.read_text() == "old"


def test_a_limit_of_the_system_is_one_clear_line(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(UserError, match="File too large"):
            files.write_text(path, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"


def test_other_errors_keep_their_type(tmp_path):
    with pytest.raises(FileNotFoundError):
        fail_halfway(tmp_path / "x", FileNotFoundError())
