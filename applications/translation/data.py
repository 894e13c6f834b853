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
        longest = self.config.data.max_length
        return self._bucketed(*token_ids(pairs, self.tokenizer), longest)

    @cached_property
    def validation(self) -> tf.data.Dataset:
        return self.evaluation_batches("validation")

    def evaluation_batches(self, split: str) -> tf.data.Dataset:
        """All pairs of a split in batches, whole: nothing is cut or left out."""
        source, target = token_ids(self.pairs(split), self.tokenizer)
        longest = max(int(side.bounding_shape()[1]) for side in (source, target))
        bucketed = self._bucketed(source, target, longest)
        return bucketed.epochs(0, 1).map(teacher_forced).cache()

    def pairs(self, split: str) -> tf.data.Dataset:
        """`{"source", "target"}` strings of a split."""
        limit = self.config.data.test_limit if split == "test" else None
        return _load(self.config, split, limit)

    def sentences(self, split: str, limit: int | None = None) -> tuple[list, list]:
        """Sources and references of a split as Python strings."""
        pairs = self.pairs(split)
        rows = (pairs if limit is None else pairs.take(limit)).as_numpy_iterator()
        texts = [(row["source"].decode(), row["target"].decode()) for row in rows]
        return [source for source, _ in texts], [target for _, target in texts]

    def _bucketed(
        self, source: tf.RaggedTensor, target: tf.RaggedTensor, longest: int
    ) -> BucketedPairs:
        tokens = self.config.data.tokens_per_batch
        return BucketedPairs(source, target, tokens, longest, self.config.train.seed)


def training_pairs(config: TranslationConfig) -> tf.data.Dataset:
    """The training pairs a run uses: for its batches and for its vocabulary."""
    return _load(config, "train", config.data.train_limit)


def _load(config: TranslationConfig, split: str, limit: int | None) -> tf.data.Dataset:
    """The first pairs of a split, in the direction that is asked for."""
    pairs = load(config.data.name, split, config.data.data_dir)
    if config.data.reverse:
        pairs = pairs.map(lambda p: {"source": p["target"], "target": p["source"]})
    return pairs if limit is None else pairs.take(limit)


def teacher_forced(source: tf.Tensor, target: tf.Tensor) -> tuple[dict, tf.Tensor]:
    """Inputs and labels: the decoder reads a token and predicts the next one."""
    return {"source": source, "target": target[:, :-1]}, target[:, 1:]
