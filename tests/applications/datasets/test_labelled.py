import re
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow_datasets as tfds

from applications.datasets import labelled
from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        (SPLITS, ("train", "validation", "test")),
        (("train", "test"), ("train[:95%]", "train[95%:]", "test")),
        (("train", "validation"), ("train[:95%]", "train[95%:]", "validation")),
        (("train",), ("train[:90%]", "train[90%:95%]", "train[95%:]")),
    ],
)
def test_missing_parts_are_carved_from_train(there, expected):
    parts = labelled.parts_of(there)
    assert tuple(parts[split] for split in SPLITS) == expected


class Contest(tfds.core.GeneratorBasedBuilder):
    """A set that keeps the labels of its test images."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = {
            "image": tfds.features.Image(shape=(1, 1, 3)),
            "label": tfds.features.ClassLabel(names=["cat", "dog"]),
        }
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict(features),
            supervised_keys=("image", "label"),
        )

    def _split_generators(self, dl_manager):
        labels = {"train": 0, "validation": 1, "test": -1}
        return {part: self._generate_examples(label) for part, label in labels.items()}

    def _generate_examples(self, label):
        for number in range(20):
            yield number, {"image": np.zeros((1, 1, 3), np.uint8), "label": label}


def test_a_test_part_without_labels_is_not_tested_on(tmp_path, monkeypatch):
    monkeypatch.setattr(labelled, "is_online", lambda builder_class: True)
    builder = Contest(data_dir=tmp_path)
    builder.download_and_prepare()
    labels = {
        split: [int(row["label"]) for row in builder.as_dataset(split=part)]
        for split, part in labelled.parts(builder, "label").items()
    }
    assert labels == {"train": [0] * 19, "validation": [0], "test": [1] * 20}


@pytest.mark.parametrize("there", [("train", "test"), ("train",)])
def test_carved_parts_are_whole_and_disjoint(there, tmp_path):
    template = tfds.core.ShardedFileTemplate(
        data_dir=tmp_path, dataset_name="set", filetype_suffix="tfrecord"
    )
    infos = [
        tfds.core.SplitInfo(
            name=name,
            shard_lengths=[1009],
            num_bytes=0,
            filename_template=template.replace(split=name),
        )
        for name in there
    ]
    splits = tfds.core.SplitDict(infos)
    sizes = {
        split: splits[part].num_examples
        for split, part in labelled.parts_of(there).items()
    }
    carved = sizes["train"] + sizes["validation"] + sizes["test"]
    assert carved == 1009 * len(there)
    assert sizes["validation"] == pytest.approx(0.05 * 1009, abs=1)


def info_of(keys, **features):
    return SimpleNamespace(supervised_keys=keys, features=features)


TEXT, LABEL = tfds.features.Text(), tfds.features.ClassLabel(num_classes=2)


def test_keys_are_an_example_and_its_label():
    info = info_of(("review", "stars"), review=TEXT, stars=LABEL, other=TEXT)
    assert labelled.keys("set", info, tfds.features.Text, "texts") == (
        "review",
        "stars",
    )


@pytest.mark.parametrize("keys", [None, ("a", "a"), ("b", "a"), ("a", ("b", "a"))])
def test_other_sets_are_refused(keys):
    message = re.escape("set is no set of labelled texts; its examples hold a, b.")
    with pytest.raises(DataError, match=message):
        labelled.keys(
            "set", info_of(keys, a=TEXT, b=LABEL), tfds.features.Text, "texts"
        )
