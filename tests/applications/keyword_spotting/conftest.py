"""Tones in the place of words, as a user's own folder and as frames; a smoke run."""

from dataclasses import replace

import numpy as np
import pytest
import soundfile

from applications.audio.config import SoundAugmentationConfig
from applications.datasets import spoken_digits
from applications.datasets.load_audio import describe
from applications.keyword_spotting.__main__ import load
from applications.keyword_spotting.classifier import Classifier
from applications.keyword_spotting.data import ClipData
from applications.keyword_spotting.presets import PRESETS
from keras_attention import models
from tests.applications.command_line import CommandLine
from tests.applications.untrained import restarted

SMOKE = PRESETS["smoke"]
CLASSES = ("high", "low", "rises")
COUNT = 120  # of each
PLAIN = SoundAugmentationConfig()

spot = CommandLine("keyword_spotting", PRESETS, load)


def tone(word, number, rate=16_000):
    """A tone of its own length and height, with noise, as its word says."""
    random = np.random.default_rng([CLASSES.index(word), number])
    seconds = random.uniform(0.2, 0.4)
    t = np.arange(int(seconds * rate)) / rate
    turns = {
        "low": 400 * t,
        "high": 2_000 * t,
        "rises": 400 * t + 800 / seconds * t**2,
    }[word]
    sound = np.sin(2 * np.pi * random.uniform(0.9, 1.1) * turns)
    return 0.3 * sound + 0.01 * random.normal(size=len(t))


@pytest.fixture(scope="session")
def tones(tmp_path_factory):
    """A folder for each class."""
    root = tmp_path_factory.mktemp("tones")
    for word in CLASSES:
        (root / word).mkdir()
        for number in range(COUNT):
            soundfile.write(root / word / f"{number}.wav", tone(word, number), 16_000)
    return root


@pytest.fixture(scope="session")
def digits():
    """Recordings as the package of `spoken_digits` has them; their mean tells them."""
    random = np.random.default_rng(0)
    lengths = random.integers(6, 30, 400)
    return [
        spoken_digits.Digit(_frames(random, length, row % 10), row % 10)
        for row, length in enumerate(lengths)
    ]


def _frames(random, length, label):
    """A bump whose place is the class, on a scale like that of coefficients."""
    place = np.linspace(0, 1, length)[:, None] - label / 9
    weights = np.linspace(-2, 2, spoken_digits.COEFFICIENTS)
    bump = np.exp(-20 * place**2) * weights
    noise = random.normal(size=bump.shape)
    return (100 * bump + 10 * noise - 200).astype("float32")


@pytest.fixture(scope="session")
def data_dir(digits, tmp_path_factory):
    """Where `spoken_digits` is prepared, of these."""
    folder = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spoken_digits, "pypi_wheel", lambda *_: folder)
        patch.setattr(spoken_digits, "read", lambda _: digits)
        spoken_digits.SpokenDigits(data_dir=folder).download_and_prepare()
    return folder


@pytest.fixture(scope="session")
def settings(tones, data_dir):
    """What a user adds to learn from the tones."""
    return f"data.name={tones}", f"data.data_dir={data_dir}"


@pytest.fixture(scope="session")
def make_data(tones, data_dir):
    """A function that makes the data anew, of sounds or of frames."""

    def make(frames=False, augmentation=PLAIN, seed=7, **changes):
        name = "spoken_digits" if frames else str(tones)
        changes = {"batch_size": 23, **changes, "name": name, "data_dir": str(data_dir)}
        config = replace(
            SMOKE,
            data=replace(SMOKE.data, **changes),
            augmentation=augmentation,
            train=replace(SMOKE.train, seed=seed),
        )
        return ClipData(config, describe(name, data_dir))

    return make


@pytest.fixture
def make_classifier():
    """Untrained classifiers with larger weights, for choices that are no near ties."""

    def make(data, kind="keyword_transformer", **options):
        sizes = {"hidden_dim": 8, "intermediate_dim": 8, "num_heads": 2}
        model = models.SoundClassifier(
            len(data.class_names),
            data.reader.frame_size,
            kind,
            **{**sizes, "num_layers": 2, **options},
        )
        return Classifier(restarted(model), data.reader, data.class_names)

    return make


@pytest.fixture(scope="session")
def smoke(tones, settings, tmp_path_factory):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    folder = tmp_path_factory.mktemp("own")
    high = folder / "high.ogg"
    soundfile.write(high, tone("high", 999, 44_100), 44_100)
    stages = {
        "train": (),
        "evaluate": (),
        "predict": (f"input={high}", f"input={tones / 'low' / '0.wav'}"),
        "explain": (),
        "export": (),
    }
    root = tmp_path_factory.mktemp("saved_models")
    return root, spot.stages(root, stages, *settings)
