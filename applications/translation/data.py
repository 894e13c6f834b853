"""Sentence pairs of a run: raw, as ids and as batches."""

from dataclasses import dataclass
from functools import cached_property

import tensorflow as tf

from applications.datasets.load import load
from applications.text.bucketing import BucketedPairs, token_ids
from applications.text.tokenizer import SubwordTokenizer
from applications.translation.presets import TranslationConfig


@dataclass
class TranslationData:
    """What the stages need of the data; each part is read when first asked for."""

    config: TranslationConfig
    vocabulary: bytes  # SentencePiece model

    @cached_property
    def tokenizer(self) -> SubwordTokenizer:
        return SubwordTokenizer(self.vocabulary)

    @cached_property
    def train(self) -> BucketedPairs:
        """Training batches; pairs with a longer side are dropped and counted."""
        pairs = training_pairs(self.config)
        return self._bucketed(*token_ids(pairs, self.tokenizer))

    @cached_property
    def validation(self) -> tf.data.Dataset:
        return self.evaluation_batches("validation")

    def evaluation_batches(self, split: str) -> tf.data.Dataset:
        """All pairs of a split in batches; longer sides are cut to the limit."""
        length = self.config.data.max_length
        ids = token_ids(self.pairs(split), self.tokenizer, length)
        bucketed = self._bucketed(*ids)
        return bucketed.epochs(0, 1).map(teacher_forced).cache()

    def pairs(self, split: str) -> tf.data.Dataset:
        """`{"source", "target"}` strings of a split."""
        pairs = load(self.config.data.name, split, self.config.data.data_dir)
        limit = self.config.data.test_limit if split == "test" else None
        return pairs if limit is None else pairs.take(limit)

    def sentences(self, split: str, limit: int | None = None) -> tuple[list, list]:
        """Sources and references of a split as Python strings."""
        pairs = self.pairs(split)
        rows = (pairs if limit is None else pairs.take(limit)).as_numpy_iterator()
        texts = [(row["source"].decode(), row["target"].decode()) for row in rows]
        return [source for source, _ in texts], [target for _, target in texts]

    def _bucketed(self, source: tf.RaggedTensor, target: tf.RaggedTensor):
        data = self.config.data
        return BucketedPairs(
            source,
            target,
            data.tokens_per_batch,
            data.max_length,
            self.config.train.seed,
        )


def training_pairs(config: TranslationConfig) -> tf.data.Dataset:
    """The training pairs a run uses: for its batches and for its vocabulary."""
    pairs = load(config.data.name, "train", config.data.data_dir)
    limit = config.data.train_limit
    return pairs if limit is None else pairs.take(limit)


def teacher_forced(source: tf.Tensor, target: tf.Tensor) -> tuple[dict, tf.Tensor]:
    """Inputs and labels: the decoder reads a token and predicts the next one."""
    return {"source": source, "target": target[:, :-1]}, target[:, 1:]
