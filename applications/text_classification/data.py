"""Labelled texts of a run: raw, as ids and as batches."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from applications.datasets.labelled import require_classes
from applications.datasets.load_texts import TextSet, describe, load_texts
from applications.errors import UserError
from applications.text.bucketing import BucketedPairs
from applications.text_classification.presets import (
    DataConfig,
    TextClassificationConfig,
)
from applications.text_classification.reader import TextReader


class Texts(NamedTuple):
    """The texts of a split and the numbers of their classes `(n,)`."""

    texts: list[str]
    labels: np.ndarray


@dataclass
class TextData:
    """What the stages need of the data; each part is read when first asked for.

    Args:
        config: Of the run, or as a stage changes it.
        known: What the set was when the model was trained on it.
        vocabulary: SentencePiece model.
    """

    config: TextClassificationConfig
    known: TextSet
    vocabulary: bytes

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.known.class_names

    @cached_property
    def reader(self) -> TextReader:
        return TextReader(self.vocabulary, self.config.data.max_length)

    @cached_property
    def train(self) -> BucketedPairs:
        """Training batches: ids, and the class as an id of its own."""
        return self._bucketed("train")

    @cached_property
    def validation(self) -> tf.data.Dataset:
        return self._bucketed("validation").epochs(0, 1).map(self.labelled).cache()

    def labelled(self, ids: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Ids `(B, T)` and one-hot classes `(B, C)` of a batch."""
        return ids, tf.one_hot(label[:, 0], len(self.class_names))

    @cached_property
    def further_tests(self) -> tuple[str, ...]:
        """Splits of other domains that the set has."""
        return described(self.config.data).further_tests

    def texts(self, split: str) -> Texts:
        """A split, or a further test of the set.

        Raises:
            UserError: The set has other classes than the model, or no such texts.
        """
        found = described(self.config.data)
        name = self.config.data.name
        require_classes(name, self.known.class_names, found.class_names)
        return texts_of(self.config.data, split)

    def cut(self, split: str) -> int:
        """How many texts of a split lose their end."""
        lengths = self.reader.whole(self.texts(split).texts).row_lengths()
        return int(tf.reduce_sum(tf.cast(lengths > self.reader.max_length, tf.int32)))

    def _bucketed(self, split: str) -> BucketedPairs:
        texts, labels = self.texts(split)
        data = self.config.data
        ids = self.reader.whole(texts)[:, : data.max_length]
        classes = tf.RaggedTensor.from_tensor(tf.constant(labels, tf.int32)[:, None])
        return BucketedPairs(
            ids, classes, data.tokens_per_batch, data.max_length, self.config.train.seed
        )


def described(config: DataConfig) -> TextSet:
    """What is known of the set before it is read."""
    columns = (config.text_column, config.label_column)
    return describe(config.name, config.data_dir, columns)


def texts_of(config: DataConfig, split: str) -> Texts:
    """The first texts of a split, as many as the limit says."""
    columns = (config.text_column, config.label_column)
    rows = load_texts(config.name, split, config.data_dir, columns)
    part = split if split in ("train", "validation") else "test"
    limit = getattr(config, f"{part}_limit")
    pairs = [
        (row["text"].decode("utf-8", "replace"), int(row["label"]))
        for row in (rows if limit is None else rows.take(limit)).as_numpy_iterator()
    ]
    if not pairs:
        raise UserError(f"{config.name} has no texts for {split}.")
    texts, labels = zip(*pairs, strict=True)
    return Texts(list(texts), np.array(labels))
