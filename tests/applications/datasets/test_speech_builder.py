import numpy as np
import pytest

from applications.audio.reader import read_samples
from applications.datasets.errors import DataError
from applications.datasets.speech_builder import SpeechBuilder
from applications.datasets.utterances import Utterance, split
from tests.applications.sound_files import recording

COUNT = 50


class Sentences(SpeechBuilder):
    """Sentences of different rates and numbers of channels."""

    folder = None
    count = COUNT

    def _utterances(self):
        return [
            Utterance(f"{i}", self.folder / f"{i}.wav", f"Sentence {i}!")
            for i in range(self.count)
        ]


@pytest.fixture
def builder(tmp_path, monkeypatch):
    for i in range(COUNT):
        rate = (8000, 16_000)[i % 2]
        recording(tmp_path / f"{i}.wav", i, rate, 100 + i, channels=1 + i % 3)
    monkeypatch.setattr(Sentences, "folder", tmp_path)
    return Sentences(data_dir=tmp_path / "data")


def test_examples_are_samples_of_16_khz_words_and_key(builder):
    builder.download_and_prepare()
    assert builder.info.features["audio"].sample_rate == 16_000
    for name, part in split(builder._utterances()).items():
        rows = builder.as_dataset(split=name).as_numpy_iterator()
        found = {row["key"].decode(): row for row in rows}
        assert found.keys() == {utterance.key for utterance in part}
        for utterance in part:
            row = found[utterance.key]
            assert row["text"].decode() == f"sentence {utterance.key}"
            np.testing.assert_array_equal(row["audio"], read_samples(utterance.path))


def test_too_few_recordings_leave_nothing(builder, monkeypatch, tmp_path):
    monkeypatch.setattr(Sentences, "count", 1)
    with pytest.raises(DataError, match="sentences has too few recordings to be split"):
        builder.download_and_prepare()
    assert not list(tmp_path.rglob("*.tfrecord*"))
