import re

import pytest

from applications.datasets.class_folders import RECORDINGS
from applications.datasets.errors import DataError
from applications.datasets.listed_files import (
    Listing,
    config_of,
    read,
    say_unlisted,
)

LISTING = Listing("texts.tsv", RECORDINGS, "text", lambda text: text.strip(".!"))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "my sounds"
    (folder / "more").mkdir(parents=True)
    for number in range(3):
        (folder / "more" / f"{number}.wav").write_bytes(bytes(number))
    return folder


def write(folder, text):
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    (folder / "texts.tsv").write_bytes(content)


def test_texts_are_read_by_file_in_order(folder):
    write(folder, "\ufeffmore/1.wav\tOne.\r\nmore/0.wav\t zero \nmore/1.wav\teins\n")
    found = read(folder, LISTING)
    assert list(found.items()) == [
        ("more/1.wav", ["One.", "eins"]),
        ("more/0.wav", ["zero"]),
    ]


def test_files_that_are_not_listed_are_counted_aloud(folder, capsys):
    write(folder, "more/1.wav\tone")
    (folder / "notes.txt").write_text("about the sounds")
    say_unlisted(folder, LISTING, read(folder, LISTING))
    assert capsys.readouterr().err == "Left out 2 recordings without a text\n"
    write(folder, "".join(f"more/{number}.wav\tone\n" for number in range(3)))
    say_unlisted(folder, LISTING, read(folder, LISTING))
    assert not capsys.readouterr().err


def test_a_changed_list_or_file_gives_another_name(folder):
    write(folder, "more/1.wav\tone")
    names = [config_of(folder, LISTING).name for _ in range(2)]
    assert re.fullmatch(r"my_sounds-[0-9a-f]{8}", names[0])
    write(folder, "more/1.wav\ttwo")
    names.append(config_of(folder, LISTING).name)
    (folder / "more" / "1.wav").write_bytes(b"longer")
    names.append(config_of(folder, LISTING).name)
    assert names[0] == names[1]
    assert len(set(names)) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "texts.tsv is empty: expected `file<TAB>text` lines."),
        (
            "more/0.wav a\n",
            ", line 1 must hold two columns, `file<TAB>text`; it has 1.",
        ),
        ("more/0.wav\ta\nmore/1.wav\tb\tc", ", line 2 must hold two columns"),
        ("more/0.wav\t...", ", line 1 has a text without a word."),
        ("\ta dog", ", line 1: '' is no recording of a kind that is read: .wav, "),
        ("more/0.aiff\tdog", ", line 1: 'more/0.aiff' is no recording of a kind"),
        ("none.wav\ta dog", ", line 1: there is no file none.wav in "),
        (b"more/0.wav\ta\xe4", ", line 1 is not UTF-8: "),
    ],
)
def test_a_bad_list_is_refused_by_name_and_line(text, message, folder):
    write(folder, text)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        read(folder, LISTING)
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_a_list_is_one_line(folder):
    message = "No such file or directory. Expected a folder with recordings and a texts"
    with pytest.raises(DataError, match=re.escape(message)) as error:
        config_of(folder, LISTING)
    assert "\n" not in str(error.value)
