"""Cut-out shapes as a user's own folder of captions, and a smoke run on them."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw

from applications.image_captioning import explanation
from applications.image_captioning.__main__ import load
from applications.image_captioning.application import ImageCaptioning
from applications.image_captioning.captioner import Captioner
from applications.image_captioning.data import CaptionData, examples
from applications.image_captioning.presets import PRESETS
from applications.pipeline import run as runs
from applications.pipeline.config import override
from applications.text.words import WordVocabulary
from keras_attention import metrics
from keras_attention.metrics import CaptionScore
from tests.applications.command_line import CommandLine

SMOKE = PRESETS["smoke"]
# The stages in the order a user calls them, and what he adds.
STAGES = {"train": (), "evaluate": (), "explain": (), "export": ()}
SIZE = (16, 24)  # of the model's images
GRID = (4, 6)
COLORS = {"red": (220, 30, 30), "green": (20, 160, 40), "blue": (30, 40, 220)}
SHAPES = {"circle": "ellipse", "square": "rectangle"}
SPLITS = {"train": 6, "val": 1, "test": 2}  # images of each shape and color

caption = CommandLine("image_captioning", PRESETS, load)


def cut_out(color, shape, left, top, size=(32, 20)):
    """A shape of 10 x 10 pixels on nothing."""
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    draw = getattr(ImageDraw.Draw(image), SHAPES[shape])
    draw((left, top, left + 9, top + 9), fill=(*COLORS[color], 255))
    return image


@pytest.fixture(scope="session")
def shapes(tmp_path_factory):
    """54 PNG files in folders of splits, each with two captions."""
    root, lines = tmp_path_factory.mktemp("shapes"), []
    draws = np.random.default_rng(0)
    for color, shape in itertools.product(COLORS, SHAPES):
        places = iter(draws.permutation(17 * 5).tolist())  # no two are copies
        for split, count in SPLITS.items():
            (root / split).mkdir(exist_ok=True)
            for number in range(count):
                key = f"{split}/{color}-{shape}-{number}.png"
                down, right = divmod(next(places), 17)
                cut_out(color, shape, 3 + right, 3 + down).save(root / key)
                lines += [f"{key}\tA {color} {shape}.", f"{key}\t{shape}, {color}"]
    (root / "captions.tsv").write_text("\n".join(lines), encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def settings(shapes, tmp_path_factory):
    """What a user adds to learn from them."""
    data_dir = tmp_path_factory.mktemp("prepared")
    return (
        f"data.name={shapes}",
        f"data.data_dir={data_dir}",
        "data.image_size=16,24",
        "encoder.filters=8",  # one stage, which is soon traced
        "encoder.stem_strides=4",
    )


@pytest.fixture(scope="session")
def config(settings):
    config = override(SMOKE, settings)
    assert (config.data.image_size, config.encoder.filters) == (SIZE, (8,))
    return config


@pytest.fixture(scope="session")
def vocabulary(config):
    found = examples(config, "train")
    return WordVocabulary.of(text for one in found for text in one.captions)


@pytest.fixture(scope="session")
def data(config, vocabulary):
    return CaptionData(config, vocabulary)


@pytest.fixture(scope="session")
def captioner(config, data):
    """Of an untrained model that looks; its searches are traced once for all tests."""
    return Captioner(model_of(config, data), data)


def model_of(config, data, **changes):
    """An untrained model that differs from the smoke preset's decoder or encoder."""
    config = replace(
        config,
        encoder=replace(config.encoder, **changes.pop("encoder", {})),
        decoder=replace(config.decoder, **changes),
    )
    return ImageCaptioning().build_model(config, data)


@pytest.fixture(scope="session")
def smoke(settings, tmp_path_factory):
    """All stages of the smoke preset, as a user calls them.

    METEOR is the share of right captions, as Java takes seconds to start, and pictures
    are drawn of two images.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """

    def meteor(texts, references):
        hits = [text in right for text, right in zip(texts, references, strict=True)]
        return CaptionScore(100 * np.mean(hits), np.array(hits))

    root = tmp_path_factory.mktemp("saved_models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics, "java_is_present", lambda: True)
        patch.setattr(metrics, "meteor", meteor)
        patch.setattr(explanation, "_EXAMPLES", 2)
        return root, caption.stages(root, STAGES, *settings)


@pytest.fixture
def smoke_run(smoke, monkeypatch):
    """The smoke run, where commands find it; not to be changed."""
    monkeypatch.setenv(runs.ROOT_VARIABLE, str(smoke[0]))
    return runs.find(smoke[0], "image_captioning", name="smoke-001")
