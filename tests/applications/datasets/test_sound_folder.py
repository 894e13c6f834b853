import numpy as np
import pytest

from applications.audio.reader import read_samples
from applications.datasets.class_folders import RECORDINGS, files, split
from applications.datasets.sound_folder import SoundFolder, config_of
from applications.errors import UserError
from tests.applications.sound_files import class_folder


@pytest.fixture
def folder(tmp_path):
    return class_folder(tmp_path / "my words")


def test_examples_are_samples_of_16_khz(folder, tmp_path):
    builder = SoundFolder(config=config_of(folder), data_dir=tmp_path / "data")
    assert builder.info.features["label"].names == ["no", "yes"]
    assert builder.info.features["audio"].sample_rate == 16_000
    builder.download_and_prepare()
    rows = builder.as_dataset(split="test").as_numpy_iterator()
    written = {(row["audio"].tobytes(), int(row["label"])) for row in rows}
    part = split(files(folder, RECORDINGS), RECORDINGS)["test"]
    assert {len(read_samples(file.path)) for file in part} == {400, 800}
    assert written == {
        (read_samples(file.path).tobytes(), ("no", "yes").index(file.label))
        for file in part
    }


def test_a_recording_that_cannot_be_read_is_named(folder, tmp_path):
    content = np.zeros(9, np.uint8).tobytes()
    (folder / "no" / "broken.wav").write_bytes(content)
    builder = SoundFolder(config=config_of(folder), data_dir=tmp_path / "data")
    with pytest.raises(UserError, match=r"broken\.wav is no sound") as error:
        builder.download_and_prepare()
    assert "\n" not in str(error.value)
    assert not builder.is_prepared()
