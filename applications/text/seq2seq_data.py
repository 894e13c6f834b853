"""Pairs of texts of a run: raw, as ids and as batches."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import tensorflow as tf

from applications.datasets.load import load
from applications.text.bucketing import BucketedPairs, token_ids
from applications.text.seq2seq_config import Seq2SeqConfig
from applications.text.tokenizer import SubwordTokenizer

C = TypeVar("C", bound=Seq2SeqConfig)


@dataclass
class Seq2SeqData(Generic[C]):
    """What the stages need of the data; each part is read when first asked for.

    A task says how long its training pairs may be (`longest`), and overrides what it
    does otherwise.
    """

    config: C
    vocabulary: bytes  # SentencePiece model

    @property
    def longest(self) -> int | tuple[int, int]:
        """The most ids of a side of a training pair, or of each; longer ones drop."""
        raise NotImplementedError

    @cached_property
    def tokenizer(self) -> SubwordTokenizer:
        return SubwordTokenizer(self.vocabulary)

    @cached_property
    def train(self) -> BucketedPairs:
        """Training batches; pairs with a longer side are dropped and counted."""
        return self.bucketed(*self.ids("train"), self.longest)

    def left_out(self) -> str:
        """What training does without, for a user to read."""
        return f"{self.train.dropped} above {self.longest} subwords left out"

    @cached_property
    def validation(self) -> tf.data.Dataset:
        return self.evaluation_batches("validation")

    def evaluation_batches(self, split: str) -> tf.data.Dataset:
        """All pairs of a split in batches: none is left out."""
        source, target = self.ids(split)
        longest = max(int(side.bounding_shape()[1]) for side in (source, target))
        bucketed = self.bucketed(source, target, longest)
        return bucketed.epochs(0, 1).map(teacher_forced).cache()

    def ids(self, split: str) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Source and target ids of a split, whole."""
        return token_ids(self.pairs(split), self.tokenizer)

    def pairs(self, split: str) -> tf.data.Dataset:
        """`{"source", "target"}` strings of a split that a run uses."""
        return self.read(self.config, split)

    @classmethod
    def read(cls, config: C, split: str) -> tf.data.Dataset:
        """The same, before there is a vocabulary."""
        pairs = load(config.data.name, split, config.data.data_dir)
        limit = {"train": config.data.train_limit, "test": config.data.test_limit}
        return pairs if limit.get(split) is None else pairs.take(limit[split])

    def sentences(self, split: str, limit: int | None = None) -> tuple[list, list]:
        """Sources and references of a split as Python strings."""
        pairs = self.pairs(split)
        rows = (pairs if limit is None else pairs.take(limit)).as_numpy_iterator()
        texts = [(row["source"].decode(), row["target"].decode()) for row in rows]
        return [source for source, _ in texts], [target for _, target in texts]

    def bucketed(
        self, source: tf.RaggedTensor, target: tf.RaggedTensor, longest: Any
    ) -> BucketedPairs:
        """Batches of a split, with the run's seed."""
        tokens = self.config.data.tokens_per_batch
        return BucketedPairs(source, target, tokens, longest, self.config.train.seed)


def teacher_forced(source: tf.Tensor, target: tf.Tensor) -> tuple[dict, tf.Tensor]:
    """Inputs and labels: the decoder reads a token and predicts the next one."""
    return {"source": source, "target": target[:, :-1]}, target[:, 1:]
