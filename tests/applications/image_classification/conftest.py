"""Scikit-learn's digits as a user's own folder of images, and a smoke run on them."""

from dataclasses import replace

import pytest
from PIL import Image
from sklearn.datasets import load_digits

from applications.image_classification.__main__ import load
from applications.image_classification.presets import PRESETS
from applications.images.batches import ImageData
from keras_attention import models
from tests.applications.command_line import CommandLine

SMOKE = PRESETS["smoke"]
# The stages in the order a user calls them, and what he adds.
STAGES = {"train": (), "evaluate": (), "explain": (), "export": ()}
CLASSES = tuple("0123456789")

classify = CommandLine("image_classification", PRESETS, load)


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """1,000 handwritten digits of 8 x 8 pixels, a folder for each class."""
    root = tmp_path_factory.mktemp("digits")
    found = load_digits()
    pixels, labels = (found.images * 255 / 16).astype("uint8"), found.target
    rows = zip(pixels[:1000], labels[:1000], strict=True)
    for number, (image, label) in enumerate(rows):
        path = root / str(label) / f"{number}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(image).save(path)
    return root


@pytest.fixture(scope="session")
def settings(digits, tmp_path_factory):
    """What a user adds to learn from them."""
    data_dir = tmp_path_factory.mktemp("prepared")
    return (
        f"data.name={digits}",
        f"data.data_dir={data_dir}",
        "data.image_size=28",
        "data.channels=1",
    )


@pytest.fixture(scope="session")
def config(settings):
    named = dict(one.removeprefix("data.").split("=") for one in settings)
    data = replace(
        SMOKE.data,
        name=named["name"],
        data_dir=named["data_dir"],
        image_size=28,
        channels=1,
    )
    return replace(SMOKE, data=data)


@pytest.fixture(scope="session")
def data(config):
    return ImageData(config.data, config.augmentation)


@pytest.fixture(scope="session")
def smoke(settings, tmp_path_factory):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    root = tmp_path_factory.mktemp("saved_models")
    return root, classify.stages(root, STAGES, *settings)


def transformer(**options):
    """A tiny one for the digits."""
    return models.VisionTransformer(10, (28, 28, 1), 7, 2, 2, 8, 16, **options)


def cnn(attention="none"):
    return models.AttentionCNN(10, (28, 28, 1), (4, 8), 1, attention=attention)
