import re
import subprocess
import sys

import pytest
import tensorflow_datasets as tfds

from applications.datasets import load_audio as loading
from applications.datasets.load_audio import describe, load_audio
from applications.datasets.pairs import SPLITS
from applications.errors import UserError
from tests.applications.datasets.messages import one_line
from tests.applications.sound_files import class_folder


def test_a_folder_is_prepared_once_with_one_line(tmp_path, capfd):
    folder, seen = class_folder(tmp_path / "my words"), []
    for _ in range(2):
        parts = [load_audio(str(folder), split, tmp_path / "data") for split in SPLITS]
        rows = [row for part in parts for row in part.as_numpy_iterator()]
        seen.append([(row["audio"].tobytes(), int(row["label"])) for row in rows])
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 80
    output, errors = capfd.readouterr()
    assert not output
    assert errors.count("Preparing") == 1
    expected = (("no", "yes"), 16_000, None, "The user's own.")
    assert describe(str(folder), tmp_path / "data") == expected


def test_ours_are_described_before_anything_is_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "prepare", lambda *_: pytest.fail("it is fetched"))
    prompts = describe("asterisk_prompts/phonetic-ru", tmp_path)
    assert (len(prompts.class_names), prompts.sample_rate) == (26, 8000)
    assert prompts.frame_size is None
    digits = describe("spoken_digits", tmp_path)
    assert digits.class_names == tuple("0123456789")
    assert (digits.sample_rate, digits.frame_size) == (None, 13)


def test_an_online_set_becomes_samples(tmp_path, pretend_prepared, monkeypatch):
    """Shapes only: the network is never asked."""
    pretend_prepared(loading, dict.fromkeys(SPLITS, 100))
    monkeypatch.setattr(loading.labelled, "_first_label", lambda *_: 0)
    with tfds.testing.mock_data(num_examples=3):
        found = describe("speech_commands", tmp_path)
        rows = list(load_audio("speech_commands", "test", tmp_path))
    assert (found.sample_rate, found.frame_size) == (16_000, None)
    assert len(rows) == 3
    for row in rows:
        assert set(row) == {"audio", "label"}
        assert row["audio"].dtype == "int16"
        assert row["audio"].shape.rank == 1


@pytest.mark.usefixtures("no_network")
def test_without_network_an_online_set_fails_at_once(tmp_path):
    with pytest.raises(UserError, match="the network does not answer") as error:
        load_audio("speech_commands", "train", tmp_path)
    assert "Use spoken_digits from a PyPI package" in one_line(error)


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("spoken_digts", "train", "Did you mean 'spoken_digits'"),
        ("sound_folder", "train", "the path of a folder of class folders"),
        ("asterisk_prompts/xx", "train", "Unknown configuration of asterisk_prompts"),
        ("cifar10", "train", "no set of labelled sounds; its examples hold"),
        ("spoken_digits", "dev", "Valid: train, validation, test"),
        ("./no/such/folder", "train", "is no folder; expected folder/<class>/*.wav."),
    ],
)
def test_what_does_not_exist_is_one_line(name, split, message, tmp_path):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        load_audio(name, split, tmp_path)
    assert one_line(error)


def test_importing_the_loaders_imports_no_tensorflow():
    script = (
        "import sys, applications.datasets.load_audio;"
        "import applications.datasets.load_speech;"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
