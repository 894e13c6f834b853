from dataclasses import replace

import numpy as np
import pytest

from applications.errors import UserError
from applications.text.vocabulary import END, START
from applications.translation.data import TranslationData


@pytest.fixture
def data(config, vocabulary_model):
    return TranslationData(config, vocabulary_model)


def test_splits_are_the_file(data, pairs):
    found = []
    for split in ("train", "validation", "test"):
        sources, references = data.sentences(split)
        assert sources
        found += zip(sources, references, strict=True)
    assert set(found) <= set(pairs)
    assert len({source for source, _ in found}) == len({source for source, _ in pairs})


def test_limits(data, config):
    assert len(data.sentences("train", 7)[0]) == 7
    limited = replace(config.data, train_limit=5, test_limit=2)
    config = replace(config, data=limited)
    data = TranslationData(config, data.vocabulary)
    assert len(list(data.pairs("train"))) == 5
    assert data.train.examples + data.train.dropped == 5
    assert len(data.sentences("test")[0]) == 2
    assert len(data.sentences("test", 1)[0]) == 1
    assert len(data.sentences("validation")[0]) > 2


def test_a_batch_reads_back_as_the_pair(config, vocabulary_model):
    """Ids of the validation split decode to its sentences, markers in their places."""
    long = replace(config, data=replace(config.data, max_length=1000))
    data = TranslationData(long, vocabulary_model)
    texts = set(zip(*data.sentences("validation"), strict=True))
    found = set()
    for inputs, labels in data.validation:
        assert (inputs["target"][:, 0].numpy() == START).all()
        assert ((labels.numpy() == END).sum(axis=1) == 1).all()
        sources = data.tokenizer.decode(inputs["source"]).numpy()
        targets = data.tokenizer.decode(labels).numpy()
        found |= {
            (source.decode(), target.decode())
            for source, target in zip(sources, targets, strict=True)
        }
    assert found == texts


def test_evaluation_keeps_whole_what_training_drops(data, config):
    short = replace(config, data=replace(config.data, max_length=20))
    short_data = TranslationData(short, data.vocabulary)
    count = len(data.sentences("validation")[0])
    batches = list(short_data.validation)
    assert sum(len(labels) for _, labels in batches) == count
    assert max(inputs["source"].shape[1] for inputs, _ in batches) > 20
    assert max(labels.shape[1] for _, labels in batches) > 20
    assert short_data.train.dropped > 0
    trained = short_data.train.examples + short_data.train.dropped
    assert trained == len(data.sentences("train")[0])


def test_every_epoch_has_its_own_order(data):
    def epoch(number):
        return [source.numpy() for source, _ in data.train.epoch(number)]

    first, again, second = epoch(0), epoch(0), epoch(1)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert any(
        a.shape != b.shape or (a != b).any() for a, b in zip(first, second, strict=True)
    )


def test_an_unknown_split_or_corpus(data, config):
    with pytest.raises(UserError, match="Unknown split 'dev'"):
        data.sentences("dev")
    other = replace(config, data=replace(config.data, name="libreoffice_help/en-xx"))
    with pytest.raises(UserError, match="Unknown configuration"):
        TranslationData.read(other, "train")


def test_reverse_swaps_the_sides(data, config):
    swapped = replace(config, data=replace(config.data, reverse=True))
    sources, targets = TranslationData(swapped, data.vocabulary).sentences("test")
    assert (targets, sources) == data.sentences("test")
