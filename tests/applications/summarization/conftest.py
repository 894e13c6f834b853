"""A file of texts and summaries, and one trained smoke run for the whole."""

import json
from dataclasses import replace

import pytest

from applications.datasets.libreoffice_help import corpus
from applications.summarization.__main__ import load
from applications.summarization.presets import (
    PRESETS,
    ModelConfig,
    SummaryDecodeConfig,
)
from applications.text import vocabulary
from tests.applications.command_line import CommandLine

SMOKE = PRESETS["smoke"]
TEXT = "Open the file. Then choose a style and click the button to apply it at once."
# The stages in the order a user calls them, and what he adds.
STAGES = {
    "train": (),
    "evaluate": (),
    "predict": (f"input={TEXT}", "input=", "input=Save all."),
    "explain": (f"input={TEXT}",),
    "export": (),
}
FILE = "texts.jsonl"

summarize = CommandLine("summarization", PRESETS, load)


@pytest.fixture(scope="session")
def pairs():
    """Texts of two sentences, and the first words as their summary."""
    sentences = [pair.source for pair in corpus.read()[:700]]
    texts = map(" ".join, zip(sentences[::2], sentences[1::2], strict=True))
    return [(text, " ".join(text.split()[:4])) for text in texts]


@pytest.fixture(scope="session")
def texts_file(pairs, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / FILE
    rows = (json.dumps({"source": s, "target": t}) for s, t in pairs)
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    """Where the file is prepared once."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def vocabulary_model(pairs):
    return vocabulary.train([text for pair in pairs for text in pair], 500)


@pytest.fixture
def config(texts_file, data_dir):
    """A tiny model of the user's own file."""
    return replace(
        SMOKE,
        data=replace(
            SMOKE.data,
            name=str(texts_file),
            data_dir=str(data_dir),
            vocabulary_size=500,
            tokens_per_batch=512,
        ),
        model=ModelConfig(
            hidden_dim=16, num_layers=1, num_heads=2, intermediate_dim=24
        ),
        decode=SummaryDecodeConfig(max_length=8, num_beams=2),
    )


@pytest.fixture(scope="session")
def smoke(tmp_path_factory, texts_file, data_dir):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    root = tmp_path_factory.mktemp("saved_models")
    settings = (f"data.name={texts_file}", f"data.data_dir={data_dir}")
    return root, summarize.stages(root, STAGES, *settings)
