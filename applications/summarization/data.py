"""Texts and summaries of a run, with the end of long texts cut off."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from applications.summarization.hub import HubTokenizer
from applications.summarization.presets import SummarizationConfig
from applications.text.bucketing import BucketedPairs
from applications.text.seq2seq_data import Seq2SeqData


@dataclass
class SummarizationData(Seq2SeqData[SummarizationConfig]):
    """The pairs of a corpus.

    A text of more than `data.max_source_length` subwords, markers counted, is read up
    to there: its end is cut off, in training, evaluation and serving alike.

    Attributes:
        hub: Folder of a KerasHub preprocessor that takes the vocabulary's place.
        cut: How many texts of a split lost their end, where it was read.
    """

    hub: Path | None = None
    cut: dict[str, int] = field(default_factory=dict)

    @property
    def longest(self) -> tuple[int, int]:
        return self.config.data.max_source_length, self.config.data.max_target_length

    @cached_property
    def tokenizer(self) -> Any:
        if self.hub is not None:
            return HubTokenizer(self.hub, self.config.model.prompt)
        return super().tokenizer

    def left_out(self) -> str:
        limits, dropped = self.config.data, self.train.dropped
        return (
            f"{dropped} with a summary above {limits.max_target_length} subwords left "
            f"out; {self.cut['train']} texts cut after {limits.max_source_length} "
            "subwords"
        )

    def ids(self, split: str) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Source ids, cut, and whole target ids of a split."""
        source, target = super().ids(split)
        longest = self.config.data.max_source_length
        self.cut[split] = int(np.sum(source.row_lengths().numpy() > longest))
        return tf.concat([source[:, :-1][:, : longest - 1], source[:, -1:]], 1), target

    def bucketed(
        self, source: tf.RaggedTensor, target: tf.RaggedTensor, longest: Any
    ) -> BucketedPairs:
        """Batches alike in both lengths: most sources have the longest."""
        data, seed = self.config.data, self.config.train.seed
        return BucketedPairs(
            source, target, data.tokens_per_batch, longest, seed, both_sides=True
        )
