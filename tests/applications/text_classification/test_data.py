from dataclasses import replace

import numpy as np
import pytest

from applications.datasets.pairs import SPLITS
from applications.errors import UserError
from applications.text_classification.data import TextData
from tests.applications.text_classification.conftest import CLASSES, KNOWN


def test_batches_hold_every_text_and_its_class(data):
    texts, labels = data.texts("train")
    assert len(texts) == 400
    whole = [tuple(row) for row in data.reader.whole(texts)[:, :40].to_list()]
    expected = sorted(zip(whole, labels, strict=True))
    for epoch in (0, 1):
        found = []
        for ids, classes in data.train.epoch(epoch).map(data.labelled):
            assert classes.shape[1] == len(CLASSES)
            rows = [tuple(row[row != 0].tolist()) for row in ids.numpy()]
            found += zip(rows, classes.numpy().argmax(axis=1), strict=True)
        assert sorted(found) == expected
    assert sum(len(ids) for ids, _ in data.validation) == 60


def test_limits_and_further_tests(data):
    assert data.further_tests == ("tweets", "amazon")
    sizes = {split: len(data.texts(split).texts) for split in (*SPLITS, "tweets")}
    assert sizes["validation"] == 60
    assert sizes["tweets"] == 50
    few = replace(data.config, data=replace(data.config.data, test_limit=7))
    data = TextData(few, KNOWN, data.vocabulary)
    assert len(data.texts("amazon").texts) == len(data.texts("test").texts) == 7


def test_texts_that_are_cut_are_counted(data):
    lengths = [len(row) for row in data.reader.whole(data.texts("test").texts)]
    assert data.cut("test") == sum(length > 40 for length in lengths)
    data.reader.max_length = 3
    assert data.cut("test") == sum(length > 3 for length in lengths) > 0


def test_other_classes_are_refused(config, vocabulary_model):
    known = KNOWN._replace(class_names=("bad", "good"))
    data = TextData(config, known, vocabulary_model)
    with pytest.raises(UserError, match="gone: bad, gone: good, new: negative"):
        data.texts("test")


def test_a_file_of_ones_own(config, vocabulary_model, tmp_path):
    path = tmp_path / "mine.csv"
    rows = "".join(f"text {i},{CLASSES[i % 2]}\n" for i in range(200))
    path.write_text("review,mood\n" + rows)
    columns = {"text_column": "review", "label_column": "mood"}
    own = replace(config.data, name=str(path), data_dir=str(tmp_path), **columns)
    data = TextData(replace(config, data=own), KNOWN, vocabulary_model)
    assert data.further_tests == ()
    texts, labels = data.texts("train")
    assert [int(text.split()[1]) % 2 for text in texts] == labels.tolist()
    assert np.bincount(labels).min() > 50
