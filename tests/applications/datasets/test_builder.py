import pytest
import tensorflow_datasets as tfds

from applications.datasets.builder import TranslationBuilder
from applications.datasets.errors import DataError
from applications.datasets.pairs import Pair, split_name

PAIRS = [Pair(f"page{i}", f"source {i}", f"target {i}") for i in range(100)]


class Example(TranslationBuilder):
    """A hundred pages of one pair each."""

    pairs = PAIRS

    def _pairs(self):
        return self.pairs


def test_splits_and_features(tmp_path):
    builder = Example(data_dir=tmp_path)
    builder.download_and_prepare()
    assert builder.info.supervised_keys == ("source", "target")
    assert builder.info.description.startswith("A hundred pages")
    for name in ("train", "validation", "test"):
        rows = list(tfds.as_numpy(builder.as_dataset(split=name)))
        found = {tuple(row[key].decode() for key in Pair._fields) for row in rows}
        assert found == {pair for pair in PAIRS if split_name(pair.group) == name}


def test_too_few_documents_are_refused_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(Example, "pairs", PAIRS[:1])
    builder = Example(data_dir=tmp_path)
    with pytest.raises(DataError, match="too few pairs to be split"):
        builder.download_and_prepare()
    assert not list(tmp_path.rglob("*.tfrecord*"))
    assert not builder.is_prepared()
