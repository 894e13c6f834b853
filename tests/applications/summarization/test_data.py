from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from applications.summarization.data import SummarizationData
from applications.text.vocabulary import END, PADDING, START


@pytest.fixture
def data(config, vocabulary_model):
    return SummarizationData(config, vocabulary_model)


def test_texts_are_cut_as_in_answering_and_counted(data, config):
    longest = config.data.max_source_length
    source, target = data.ids("train")
    whole = [len(data.tokenizer.ragged([text])[0]) + 1 for text in sources(data)]
    assert max(whole) > longest > min(whole)
    assert data.cut["train"] == sum(length > longest for length in whole)
    np.testing.assert_array_equal(source.row_lengths(), np.minimum(whole, longest))
    assert all(row[-1] == END for row in source.numpy())
    encoded = data.tokenizer.encode(
        tf.constant(sources(data)), add_end=True, max_length=longest
    )
    np.testing.assert_array_equal(source.to_tensor(PADDING), encoded)
    assert all(row[0] == START and row[-1] == END for row in target.numpy())


def sources(data):
    return data.sentences("train")[0]


def test_long_summaries_drop_from_training_only(config, vocabulary_model):
    short = replace(config.data, max_target_length=8)
    data = SummarizationData(replace(config, data=short), vocabulary_model)
    train = data.train
    assert train.dropped > 0
    assert train.examples + train.dropped == len(sources(data))
    assert max(batch[1].shape[1] for batch in train.epochs(0, 1)) <= 8
    kept = sum(len(labels) for _, labels in data.validation)
    assert kept == len(data.sentences("validation")[0])
