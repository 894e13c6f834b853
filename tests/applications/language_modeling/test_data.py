from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.language_modeling import data
from applications.language_modeling.data import LanguageData
from applications.text.vocabulary import END, PADDING, START


def first(dataset):
    return next(dataset.take(1).as_numpy_iterator())


def test_a_causal_row_predicts_the_next_token(byte_data):
    found = byte_data()
    inputs, labels = first(found.train_epoch(0))
    assert inputs.shape == labels.shape == (8, 32)
    np.testing.assert_array_equal(inputs[:, 1:], labels[:, :-1])
    ids = found.stream("train")
    assert (ids[0], ids[-1]) == (START, END)
    assert found.tokens.decode(ids[None]).numpy()[0].decode() == found.texts("train")[0]


def test_validation_is_whole_and_always_alike(byte_data):
    batches = [list(byte_data().validation.as_numpy_iterator()) for _ in range(2)]
    for (ids, labels), (again, _) in zip(*batches, strict=True):
        np.testing.assert_array_equal(ids, again)
        assert ids.shape == labels.shape
    seen = np.concatenate([labels[labels != PADDING] for _, labels in batches[0]])
    np.testing.assert_array_equal(seen, byte_data().stream("validation")[1:])


def test_masked_rows_ask_for_what_is_hidden(byte_data):
    found = byte_data("masked")
    inputs, labels, weights = first(found.train_epoch(0))
    assert inputs["tokens"].shape == (8, 32)
    assert labels.shape == weights.shape == inputs["positions"].shape == (8, 5)
    assert (inputs["tokens"] == found.tokens.gap).any()
    assert not np.isin(labels[weights > 0], found.tokens.special).any()


@pytest.mark.parametrize("objective", ["span_corruption", "denoising"])
def test_two_sides_have_no_padding_before_they_are_hidden(byte_data, objective):
    found = byte_data(objective)
    for dataset in (found.train_epoch(0), found.batches("validation")):
        inputs, labels = first(dataset)
        source, target = inputs["source"], inputs["target"]
        assert target.shape == labels.shape
        assert (target[:, 0] == START).all()
        assert ((source == END).sum(axis=1) == 1).all()
        markers = found.tokens.sentinels or [found.tokens.gap]
        assert np.isin(source, markers).any(axis=1).all()
        np.testing.assert_array_equal(target[:, 1:] > 0, labels[:, :-1] > 0)


def test_epochs_hide_other_tokens(byte_data):
    found = byte_data("masked")
    places = [first(found.train_epoch(number))[0]["positions"] for number in (0, 0, 1)]
    np.testing.assert_array_equal(places[0], places[1])
    assert not np.array_equal(places[0], places[2])


def test_no_text_is_refused(config, monkeypatch):
    blank = tf.data.Dataset.from_tensor_slices({"text": [" ", "\n\t"]})
    monkeypatch.setattr(data, "load_documents", lambda *arguments: blank)
    with pytest.raises(UserError, match=r"help.txt has no text for test"):
        data.texts_of(config.data, "test")


def test_subwords_need_the_vocabulary(config, vocabulary_model):
    masked = replace(config, train=replace(config.train, objective="masked"))
    found = LanguageData(masked, vocabulary_model)
    assert found.tokens.gap is not None
    assert found.stream("validation").max() < found.tokens.vocabulary_size
