"""One small vocabulary for all tests of this directory."""

import pytest

from applications.datasets.libreoffice_help import corpus
from applications.text import vocabulary


@pytest.fixture(scope="session")
def texts():
    return [text for pair in corpus.read()[:300] for text in (pair.source, pair.target)]


@pytest.fixture(scope="session")
def model(texts):
    return vocabulary.train(texts, 600)
