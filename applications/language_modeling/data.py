"""The text of a run: raw, as tokens, and as batches of what an objective asks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf

from applications.datasets.load_documents import load_documents
from applications.errors import UserError
from applications.language_modeling.objectives import corruption, markers
from applications.language_modeling.presets import DataConfig, LanguageConfig
from applications.language_modeling.rows import TokenRows, whole_rows
from applications.language_modeling.tokens import (
    ByteTokens,
    SubwordTokens,
    Tokens,
    cleaned_texts,
)
from applications.text.seq2seq_data import teacher_forced

_TEXTS_AT_ONCE = 1024


@dataclass
class LanguageData:
    """What the stages need of the data; each part is read when first asked for.

    Args:
        config: Of the run, or as a stage changes it.
        vocabulary: SentencePiece model; bytes need none.
    """

    config: LanguageConfig
    vocabulary: bytes = b""

    @cached_property
    def tokens(self) -> Tokens:
        gap, sentinels = markers(self.config)
        if self.config.data.tokens == "byte":
            return ByteTokens(gap, sentinels)
        return SubwordTokens(self.vocabulary, gap, sentinels)

    @cached_property
    def train(self) -> TokenRows:
        """Training rows; of a causal model one token longer than it reads."""
        data = self.config.data
        return TokenRows(
            self.stream("train"),
            data.length,
            self._width,
            data.rows_per_batch,
            self.config.train.seed,
        )

    def train_epoch(self, number: tf.Tensor) -> tf.data.Dataset:
        """The batches of one epoch of training."""
        return self._batched(self.train.epoch(number), self.train.rows_per_batch)

    @cached_property
    def validation(self) -> tf.data.Dataset:
        return self.batches("validation").cache()

    def batches(self, split: str) -> tf.data.Dataset:
        """All of a split, once and always alike.

        Of models of two sides without the last row, unless it is full or the only one.
        """
        data = self.config.data
        rows = whole_rows(self.stream(split), data.length, self._width)
        if self._is_seq2seq and len(rows) > 1 and rows[-1, -1] == self.tokens.padding:
            rows = rows[:-1]  # what is corrupted has no padding
        seeds = np.stack([np.full(len(rows), 7), np.arange(len(rows))], axis=1)
        dataset = tf.data.Dataset.from_tensor_slices((rows, seeds.astype("int32")))
        return self._batched(dataset, data.rows_per_batch)

    def stream(self, split: str) -> np.ndarray:
        """All tokens of a split, one document after the other, `(n,)` int32."""
        return np.concatenate(self.ids(split))

    def ids(self, split: str) -> list[np.ndarray]:
        """The tokens of each document.

        Start and end are among them but for models of two sides, whose decoder has its
        own.
        """
        texts = self.texts(split)
        found: list[np.ndarray] = []
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            marked = not self._is_seq2seq
            some = texts[first : first + _TEXTS_AT_ONCE]
            ids = self.tokens.ragged(some, add_start=marked, add_end=marked)
            values, splits = ids.flat_values.numpy(), ids.row_splits.numpy()
            found += np.split(values, splits[1:-1])
        return found

    def texts(self, split: str) -> list[str]:
        """The documents of a split as they are read."""
        return texts_of(self.config.data, split)

    @property
    def _is_seq2seq(self) -> bool:
        return self.config.train.is_seq2seq

    @property
    def _width(self) -> int:
        causal = self.config.train.objective == "causal"
        return self.config.data.length + causal

    @cached_property
    def _corrupt(self) -> Callable[..., Any]:
        return corruption(self.config, self.tokens)

    def _batched(self, rows: tf.data.Dataset, size: int) -> tf.data.Dataset:
        """Batches of inputs and labels out of rows and their seeds."""
        if self.config.train.objective == "causal":
            return rows.batch(size).map(lambda ids, _: (ids[:, :-1], ids[:, 1:]))
        corrupted = rows.map(
            self._corrupt, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
        )
        batches = corrupted.padded_batch(size)
        if not self._is_seq2seq:
            return batches
        return batches.map(lambda pair: teacher_forced(pair["source"], pair["target"]))


def texts_of(config: DataConfig, split: str, limit: int | None = None) -> list[str]:
    """The first documents of a split, as many as the limits say; blank ones dropped.

    Args:
        config: Which corpus, and its limit for the split.
        split: `"train"`, `"validation"` or `"test"`.
        limit: Another limit.

    Raises:
        UserError: There is none.
    """
    rows = load_documents(config.name, split, config.data_dir)
    for most in (getattr(config, f"{split}_limit"), limit):
        rows = rows if most is None else rows.take(most)
    raw = [row["text"].decode("utf-8", "replace") for row in rows.as_numpy_iterator()]
    texts = [text for text in cleaned_texts(raw) if text]
    if not texts:
        raise UserError(f"{config.name} has no text for {split}.")
    return texts
