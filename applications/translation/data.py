"""Sentence pairs of a run."""

import tensorflow as tf

from applications.text.seq2seq_data import Seq2SeqData
from applications.translation.presets import TranslationConfig


class TranslationData(Seq2SeqData[TranslationConfig]):
    """The pairs of a corpus, in the direction that is asked for."""

    @property
    def longest(self) -> int:
        return self.config.data.max_length

    @classmethod
    def read(cls, config: TranslationConfig, split: str) -> tf.data.Dataset:
        pairs = super().read(config, split)
        if config.data.reverse:
            pairs = pairs.map(lambda p: {"source": p["target"], "target": p["source"]})
        return pairs
