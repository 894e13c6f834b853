"""A tiny translator for the parts, and one trained smoke run for the whole."""

from dataclasses import replace

import pytest

from applications.datasets.libreoffice_help import corpus
from applications.text import vocabulary
from applications.text.tokenizer import SubwordTokenizer
from applications.translation.__main__ import load
from applications.translation.presets import PRESETS, DecodeConfig, ModelConfig
from applications.translation.translator import Translator
from keras_attention import models
from tests.applications.command_line import CommandLine
from tests.applications.untrained import restarted

SMOKE = PRESETS["smoke"]
SENTENCE = "Open the file."
# The stages in the order a user calls them, and what he adds.
STAGES = {
    "train": (),
    "evaluate": (),
    "predict": (f"input={SENTENCE}", "input=", "input=Save all."),
    "explain": (),
    "export": (),
}


translate = CommandLine("translation", PRESETS, load)


@pytest.fixture(scope="session")
def pairs():
    return [(pair.source, pair.target) for pair in corpus.read()[:300]]


@pytest.fixture(scope="session")
def vocabulary_model(pairs):
    return vocabulary.train([text for pair in pairs for text in pair], 500)


@pytest.fixture(scope="session")
def tsv(pairs, tmp_path_factory):
    """A user's own file."""
    path = tmp_path_factory.mktemp("pairs") / "mine.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    """Where the file is prepared once."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def config(tsv, data_dir):
    """A tiny model of the user's own file."""
    return replace(
        SMOKE,
        data=replace(
            SMOKE.data,
            name=str(tsv),
            data_dir=str(data_dir),
            vocabulary_size=500,
            tokens_per_batch=512,
        ),
        model=ModelConfig(
            hidden_dim=16, num_layers=2, num_heads=2, intermediate_dim=24
        ),
        decode=DecodeConfig(max_length=8, num_beams=2),
    )


@pytest.fixture
def translator(vocabulary_model, config):
    """An untrained transformer of two blocks and two heads."""
    tokenizer = SubwordTokenizer(vocabulary_model)
    model = models.TransformerSeq2Seq(
        tokenizer.vocabulary_size,
        num_layers=2,
        num_heads=2,
        hidden_dim=16,
        intermediate_dim=24,
    )
    return Translator(restarted(model), tokenizer, config)


@pytest.fixture(scope="session")
def smoke(tmp_path_factory, data_dir):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    root = tmp_path_factory.mktemp("saved_models")
    return root, translate.stages(root, STAGES, f"data.data_dir={data_dir}")
