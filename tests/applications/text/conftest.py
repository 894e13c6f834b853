"""One small vocabulary and one untrained model for all tests of this directory."""

import pytest

from applications.datasets.libreoffice_help import corpus
from applications.text import vocabulary
from applications.text.seq2seq_config import DecodeConfig
from applications.text.tokenizer import SubwordTokenizer
from applications.text.writer import Writer
from keras_attention import models
from tests.applications.untrained import restarted

DECODE = DecodeConfig(max_length=8, num_beams=2)
LENGTH = 64  # of a source


@pytest.fixture(scope="session")
def texts():
    return [text for pair in corpus.read()[:300] for text in (pair.source, pair.target)]


@pytest.fixture(scope="session")
def model(texts):
    return vocabulary.train(texts, 600)


@pytest.fixture
def writer(model):
    """An untrained transformer of two blocks and two heads."""
    tokenizer = SubwordTokenizer(model)
    seq2seq = models.TransformerSeq2Seq(
        tokenizer.vocabulary_size,
        num_layers=2,
        num_heads=2,
        hidden_dim=16,
        intermediate_dim=24,
    )
    return Writer(restarted(seq2seq), tokenizer, DECODE, LENGTH)
