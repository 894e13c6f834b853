import pytest

from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS, split_name
from applications.datasets.speech_folder import SpeechFolder, config_of, read, split
from applications.errors import UserError
from tests.applications.sound_files import recording, transcribed_folder


@pytest.fixture
def folder(tmp_path):
    return transcribed_folder(tmp_path / "my speech")


def write(folder, lines):
    (folder / "transcripts.tsv").write_text("\n".join(lines), encoding="utf-8")


def keys(part):
    return {utterance.key for utterance in part}


def test_recordings_are_split_by_their_words(folder, capsys):
    recording(folder / "new.wav", 99)
    parts = split(read(folder))
    assert capsys.readouterr().err == "Left out 1 recordings without a text\n"
    assert sum(map(len, parts.values())) == 60
    for name in SPLITS:
        assert parts[name]
        assert {split_name(utterance.words) for utterance in parts[name]} == {name}


def test_folders_of_splits_are_kept_and_copies_left_out(tmp_path, capsys):
    names = {"Train": (1, 2, 3), "dev": (4,), "test": (5, 2)}
    lines = []
    for name, values in names.items():
        for value in values:
            recording(tmp_path / name / f"{value}.wav", value)
            lines.append(f"{name}/{value}.wav\tthe same words")
    write(tmp_path, lines)
    parts = split(read(tmp_path))
    assert {name: keys(part) for name, part in parts.items()} == {
        "train": {"Train/1.wav", "Train/2.wav", "Train/3.wav"},
        "validation": {"dev/4.wav"},
        "test": {"test/5.wav"},
    }
    said = "Left out 1 recordings of test that also stand in train\n"
    assert capsys.readouterr().err == said


def test_two_texts_of_one_file_are_refused(folder):
    write(folder, ["more/0.wav\tone", "more/0.wav\ttwo"])
    message = r"transcripts\.tsv has 2 texts of more/0\.wav; expected one\."
    with pytest.raises(DataError, match=message):
        read(folder)


def test_a_text_without_a_word_is_refused(folder):
    write(folder, ["more/0.wav\t..."])
    with pytest.raises(DataError, match="line 1 has a text without a word"):
        read(folder)


def test_a_recording_that_cannot_be_read_is_named(folder, tmp_path):
    (folder / "more" / "0.wav").write_bytes(b"RIFF")
    builder = SpeechFolder(config=config_of(folder), data_dir=tmp_path / "data")
    with pytest.raises(UserError, match=r"0\.wav is no sound") as error:
        builder.download_and_prepare()
    assert "\n" not in str(error.value)
    assert not builder.is_prepared()
