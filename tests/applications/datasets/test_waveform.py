from pathlib import Path

import numpy as np
import pytest
import tensorflow_datasets as tfds

from applications.datasets.waveform import Waveform
from tests.applications.sound_files import noise

SOUNDS = [noise(value, samples)[:, 0] for value, samples in enumerate((1, 70, 999))]


class Noises(tfds.core.GeneratorBasedBuilder):
    """Three sounds."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = tfds.features.FeaturesDict({"audio": Waveform(8000)})
        return tfds.core.DatasetInfo(builder=self, features=features)

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for number, sound in enumerate(SOUNDS):
            yield number, {"audio": sound}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    builder = Noises(data_dir=tmp_path_factory.mktemp("data"))
    builder.download_and_prepare()
    return builder


def read(builder):
    rows = builder.as_dataset(split="train").as_numpy_iterator()
    return sorted((row["audio"] for row in rows), key=len)


def test_samples_come_back_as_they_were(prepared):
    for found, expected in zip(read(prepared), SOUNDS, strict=True):
        assert found.dtype == np.int16
        np.testing.assert_array_equal(found, expected)


def test_a_sample_takes_two_bytes(prepared):
    files = Path(prepared.data_path).glob("*.tfrecord*")
    stored = sum(path.stat().st_size for path in files)
    assert stored < 2 * sum(map(len, SOUNDS)) + 200


def test_the_prepared_folder_alone_tells_rate_and_samples(prepared):
    builder = tfds.builder_from_directory(prepared.data_path)
    assert builder.info.features["audio"].sample_rate == 8000
    np.testing.assert_array_equal(read(builder)[2], SOUNDS[2])
