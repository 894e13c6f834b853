"""LibreOffice's help in the place of VADER's texts, and a smoke run on it.

English sentences are the positive ones and German ones the negative: real texts, no
network, and soon learned.
"""

from dataclasses import replace

import keras
import pytest

from applications.datasets import vader
from applications.datasets.labelled_texts import LabelledText, split
from applications.datasets.libreoffice_help import corpus
from applications.datasets.load_texts import TextSet
from applications.text import vocabulary
from applications.text_classification.__main__ import load
from applications.text_classification.classifier import Classifier
from applications.text_classification.data import TextData
from applications.text_classification.presets import PRESETS
from applications.text_classification.reader import TextReader, cleaned_texts
from keras_attention import models
from tests.applications.command_line import CommandLine
from tests.backend import to_numpy

SMOKE = PRESETS["smoke"]
CLASSES = ("negative", "positive")
KNOWN = TextSet(CLASSES, ("tweets", "amazon"), "MIT")
# The stages in the order a user calls them, and what he adds.
STAGES = {
    "train": (),
    "evaluate": (),
    "predict": ("input=Open the file.", "input=", "input=Das Fenster ist offen."),
    "explain": (),
    "export": (),
}

classify = CommandLine("text_classification", PRESETS, load)


@pytest.fixture(scope="session")
def sentences():
    """Labelled texts, English and German in turn."""
    return [
        LabelledText(text, label)
        for pair in corpus.read()[:700]
        for text, label in ((pair.source, "positive"), (pair.target, "negative"))
    ]


@pytest.fixture(scope="session")
def data_dir(sentences, tmp_path_factory):
    """Where the set `vader` is prepared, of these sentences."""
    folder = tmp_path_factory.mktemp("prepared")
    parts = {
        **split(sentences[:1200]),
        "tweets": sentences[1200:1250],
        "amazon": sentences[1250:1300],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vader.Vader, "_parts", lambda self: parts)
        vader.Vader(data_dir=folder).download_and_prepare()
    return folder


@pytest.fixture(scope="session")
def config(data_dir):
    return replace(SMOKE, data=replace(SMOKE.data, data_dir=str(data_dir)))


@pytest.fixture(scope="session")
def vocabulary_model(sentences):
    texts = cleaned_texts([row.text for row in sentences[:400]])
    return vocabulary.train(texts, SMOKE.data.vocabulary_size)


@pytest.fixture
def data(config, vocabulary_model):
    return TextData(config, KNOWN, vocabulary_model)


@pytest.fixture
def make_classifier(vocabulary_model):
    """Untrained classifiers with larger weights, for choices that are no near ties."""

    def make(kind="additive_pooling", max_length=SMOKE.data.max_length):
        reader = TextReader(vocabulary_model, max_length)
        size = reader.tokenizer.vocabulary_size
        sizes = {"hidden_dim": 8, "intermediate_dim": 8, "num_heads": 2}
        model = models.TextClassifier(size, 2, kind, num_layers=1, **sizes)
        # `keras.utils.set_random_seed` would destroy the tokenizer.
        noise = keras.initializers.RandomNormal(0.0, 0.5, seed=1)
        model.set_weights([x + to_numpy(noise(x.shape)) for x in model.get_weights()])
        return Classifier(model, reader, CLASSES)

    return make


@pytest.fixture(scope="session")
def smoke(data_dir, tmp_path_factory):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    root = tmp_path_factory.mktemp("saved_models")
    return root, classify.stages(root, STAGES, f"data.data_dir={data_dir}")
