"""LibreOffice's help as a text of the user's own, and a smoke run on it."""

from dataclasses import replace

import pytest

from applications.datasets.libreoffice_help import corpus
from applications.language_modeling import networks
from applications.language_modeling.__main__ import load
from applications.language_modeling.continuation import Continuation
from applications.language_modeling.data import LanguageData
from applications.language_modeling.filling import MaskedFiller
from applications.language_modeling.objectives import markers
from applications.language_modeling.presets import PRESETS
from applications.language_modeling.tokens import (
    BREAK,
    GAP,
    ByteTokens,
    SubwordTokens,
    sentinel_names,
)
from applications.text import vocabulary
from tests.applications.command_line import CommandLine
from tests.applications.untrained import restarted

SMOKE = PRESETS["smoke"]
# The stages in the order a user calls them, and what he adds.
STAGES = {
    "train": (),
    "evaluate": (),
    "predict": ("input=Open the file", "input=Click"),
    "explain": ("input=Open the file and choose",),
    "export": (),
}

write = CommandLine("language_modeling", PRESETS, load)


@pytest.fixture(scope="session")
def lines():
    return [pair.source for pair in corpus.read()[:250]]


@pytest.fixture(scope="session")
def text_file(lines, tmp_path_factory):
    """A text of 17 kB; the last tenth is held out."""
    path = tmp_path_factory.mktemp("own") / "help.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def settings(text_file, tmp_path_factory):
    """What a user adds to train on it."""
    folder = tmp_path_factory.mktemp("prepared")
    return (f"data.name={text_file}", f"data.data_dir={folder}")


@pytest.fixture(scope="session")
def config(settings):
    name, folder = (setting.partition("=")[2] for setting in settings)
    return replace(SMOKE, data=replace(SMOKE.data, name=name, data_dir=folder))


@pytest.fixture(scope="session")
def vocabulary_model(lines):
    """With a gap and three sentinels."""
    return vocabulary.train(lines, 420, [BREAK, GAP], sentinel_names(3))


@pytest.fixture(params=["subword", "byte"])
def tokens(request, vocabulary_model):
    """Both kinds of tokens, with a gap and three sentinels."""
    if request.param == "byte":
        return ByteTokens(with_gap=True, num_sentinels=3)
    return SubwordTokens(vocabulary_model, with_gap=True, num_sentinels=3)


@pytest.fixture
def byte_data(config):
    """Makes the data of an objective, in bytes: they need no vocabulary."""

    def make(objective="causal", **changed):
        return LanguageData(
            replace(
                config,
                data=replace(config.data, tokens="byte", **changed),
                train=replace(config.train, objective=objective),
            )
        )

    return make


@pytest.fixture
def byte_tokens():
    """Makes the byte tokens of an objective."""

    def make(objective="causal"):
        changed = replace(SMOKE.train, objective=objective)
        return ByteTokens(*markers(replace(SMOKE, train=changed)))

    return make


@pytest.fixture(scope="session")
def continuation():
    """Of an untrained model of bytes, which writes eight of them; traced once."""
    decode = replace(SMOKE.decode, min_length=SMOKE.decode.max_length)
    model = restarted(networks.build(SMOKE, ByteTokens().vocabulary_size))
    return Continuation(model, ByteTokens(), decode, SMOKE.data.length)


@pytest.fixture(scope="session")
def masked():
    """The filler of an untrained masked model of bytes, traced once."""
    config = replace(SMOKE, train=replace(SMOKE.train, objective="masked"))
    tokens = ByteTokens(*markers(config))
    model = restarted(networks.build(config, tokens.vocabulary_size))
    return MaskedFiller(model, tokens, SMOKE.data.length)


@pytest.fixture(scope="session")
def smoke(settings, tmp_path_factory):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    root = tmp_path_factory.mktemp("saved_models")
    return root, write.stages(root, STAGES, *settings)
