import re

import numpy as np
import pytest
import tensorflow_datasets as tfds

from applications.audio.reader import read_samples
from applications.datasets import load_speech as loading
from applications.datasets import preparation
from applications.datasets.load_speech import describe, load_speech
from applications.datasets.pairs import SPLITS
from applications.errors import UserError
from tests.applications.datasets.messages import one_line
from tests.applications.sound_files import transcribed_folder


def test_a_folder_is_prepared_once_with_one_line(tmp_path, capfd):
    folder = transcribed_folder(tmp_path / "my speech")
    for _ in range(2):
        parts = [load_speech(str(folder), split, tmp_path / "data") for split in SPLITS]
        rows = [row for part in parts for row in part.as_numpy_iterator()]
        assert len(rows) == 60
    for row in rows:
        key = row["key"].decode()
        number = key.removesuffix(".wav").rpartition("/")[2]
        assert row["text"].decode() == f"sentence {number}"
        np.testing.assert_array_equal(row["audio"], read_samples(folder / key))
    output, errors = capfd.readouterr()
    assert not output
    assert errors.count("Preparing") == 1
    assert describe(str(folder), tmp_path / "data") == (16_000, "The user's own.")


def test_ours_are_described_before_anything_is_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "prepare", lambda *_: pytest.fail("it is fetched"))
    assert describe("fillets_speech/cs", tmp_path) == (16_000, "GPL-2.0")
    assert describe("festvox_ru", tmp_path) == (16_000, "BSD-like")


@pytest.fixture
def librispeech(monkeypatch):
    """TFDS's LibriSpeech, of two recordings in each of its parts."""

    def examples(part):
        for number in range(2):
            name = f"{part}-{number}"
            yield (
                name,
                {
                    "speech": np.arange(number + 3),
                    "text": f"IT'S {name}".upper(),
                    "speaker_id": 1,
                    "chapter_id": 2,
                    "id": name,
                },
            )

    def parts(self, dl_manager):
        return {name: examples(name) for name in ("train_clean100", *_PARTS)}

    monkeypatch.setattr(tfds.builder_cls("librispeech"), "_split_generators", parts)
    monkeypatch.setattr(preparation, "_any_answers", lambda urls: True)


_PARTS = ("train_other500", "dev_clean", "dev_other", "test_clean", "test_other")


@pytest.mark.usefixtures("librispeech")
def test_librispeech_becomes_samples_and_lower_case(tmp_path):
    """Shapes only: the network is never asked."""
    found = {
        split: {
            row["key"].decode(): row
            for row in load_speech("librispeech", split, tmp_path).as_numpy_iterator()
        }
        for split in SPLITS
    }
    assert {name: set(rows) for name, rows in found.items()} == {
        "train": {
            f"{part}-{number}"
            for part in ("train_clean100", "train_other500")
            for number in range(2)
        },
        "validation": {"dev_clean-0", "dev_clean-1"},
        "test": {"test_clean-0", "test_clean-1"},
    }
    row = found["test"]["test_clean-1"]
    assert row["text"] == b"it's test_clean-1"
    assert row["audio"].dtype == np.int16
    assert row["audio"].tolist() == [0, 1, 2, 3]


@pytest.mark.usefixtures("no_network")
def test_without_network_an_online_set_fails_at_once(tmp_path):
    with pytest.raises(UserError, match="the network does not answer") as error:
        load_speech("librispeech", "train", tmp_path)
    assert "Use fillets_speech/cs from Debian packages" in one_line(error)


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("festvox", "train", "Unknown set of speech 'festvox'. Did you mean"),
        ("fillets_speech/de", "train", "Unknown configuration of fillets_speech 'de'"),
        ("speech_folder", "train", "with recordings and a transcripts.tsv"),
        ("speech_commands", "train", "no set of speech and texts; its examples hold"),
        ("festvox_ru", "dev", "Valid: train, validation, test"),
        ("./no/such/folder", "train", "folder/transcripts.tsv cannot be read"),
    ],
)
def test_what_does_not_exist_is_one_line(name, split, message, tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "prepare", lambda *_: pytest.fail("it is fetched"))
    with pytest.raises(UserError, match=re.escape(message)) as error:
        load_speech(name, split, tmp_path)
    assert one_line(error)
