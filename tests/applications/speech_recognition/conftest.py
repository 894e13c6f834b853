"""Letters as tones, in a user's own folder; a smoke run over them."""

from dataclasses import replace

import keras
import numpy as np
import pytest
import soundfile

from applications.audio.config import SoundAugmentationConfig
from applications.speech_recognition.__main__ import load
from applications.speech_recognition.data import SpeechData
from applications.speech_recognition.learned import learn
from applications.speech_recognition.presets import PRESETS
from applications.speech_recognition.recognizer import Recognizer
from tests.applications.command_line import CommandLine

SMOKE = PRESETS["smoke"]
COUNTS = {"train": 40, "validation": 6, "test": 7}
LETTERS = "abcd"
PLAIN = SoundAugmentationConfig()

recognize = CommandLine("speech_recognition", PRESETS, load)


def said(split, number):
    """One to three words of two or three letters."""
    random = np.random.default_rng([sorted(COUNTS).index(split), number])
    sizes = random.integers(2, 4, random.integers(1, 4))
    return " ".join("".join(random.choice(list(LETTERS), size)) for size in sizes)


def spoken(text, rate=16_000):
    """A tone of 60 to 100 ms for each letter, silence for a blank."""
    random = np.random.default_rng([ord(one) for one in text])
    parts = []
    for character in text:
        t = np.arange(int(random.uniform(0.06, 0.1) * rate)) / rate
        height = 500 * (1 + LETTERS.find(character))
        parts.append(0.3 * np.sin(2 * np.pi * height * t))
    sound = np.concatenate(parts)
    return sound + 0.003 * random.normal(size=len(sound))


@pytest.fixture(scope="session")
def letters(tmp_path_factory):
    """A folder with recordings of each split and what is said in them."""
    root = tmp_path_factory.mktemp("letters")
    lines = []
    for split, count in COUNTS.items():
        (root / split).mkdir()
        for number in range(count):
            text = said(split, number)
            soundfile.write(root / split / f"{number}.wav", spoken(text), 16_000)
            lines.append(f"{split}/{number}.wav\t{text}")
    (root / "transcripts.tsv").write_text("\n".join(lines), encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def settings(letters, tmp_path_factory):
    """What a user adds to learn from the letters."""
    prepared = tmp_path_factory.mktemp("prepared")
    return f"data.name={letters}", f"data.data_dir={prepared}"


@pytest.fixture(scope="session")
def make_data(settings):
    """A function that makes the data anew."""
    name, data_dir = (setting.partition("=")[2] for setting in settings)

    def make(augmentation=PLAIN, seed=7, objective="joint", decoder=None, **changes):
        changes = {"batch_size": 8, **changes, "name": name, "data_dir": data_dir}
        model = replace(
            SMOKE.model, objective=objective, decoder=decoder or SMOKE.model.decoder
        )
        config = replace(
            SMOKE,
            data=replace(SMOKE.data, **changes),
            augmentation=augmentation,
            model=model,
            train=replace(SMOKE.train, seed=seed),
        )
        return SpeechData(config, learn(config))

    return make


@pytest.fixture
def make_recognizer():
    """Untrained recognizers with larger weights, for choices that are no near ties."""

    def make(data):
        model = load().build_model(data.config, data)
        # Not of what normalisations have counted: a variance is above 0.
        noise = keras.initializers.RandomNormal(0.0, 0.3, seed=1)
        for variable in model.trainable_variables:
            variable.assign_add(noise(variable.shape))
        return Recognizer(model, data)

    return make


@pytest.fixture(scope="session")
def smoke(letters, settings, tmp_path_factory):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    folder = tmp_path_factory.mktemp("own")
    own = folder / "own.ogg"
    soundfile.write(own, spoken("abba", 44_100), 44_100)
    stages = {
        "train": (),
        "evaluate": (),
        "predict": (f"input={own}", f"input={letters / 'test' / '0.wav'}"),
        "explain": (),
        "export": (),
    }
    root = tmp_path_factory.mktemp("saved_models")
    return root, recognize.stages(root, stages, *settings)
