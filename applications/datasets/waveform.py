"""The feature that all our sets of sound store."""

import numpy as np
import tensorflow_datasets as tfds

from applications.audio.config import SAMPLE_RATE


class Waveform(tfds.features.Audio):
    """Samples of one channel, int16 `(samples,)`, stored as bytes.

    TFDS's own feature writes each as a number of up to ten bytes, and to it an encoding
    is a name only: it passes arrays by.

    Args:
        sample_rate: In Hz.
    """

    def __init__(self, sample_rate: int = SAMPLE_RATE):
        super().__init__(dtype=np.int16, sample_rate=sample_rate, encoding="bytes")

    def encode_example(self, samples: np.ndarray) -> bytes:
        return tfds.features.Tensor.encode_example(self, samples)

    @classmethod
    def from_json_content(cls, value) -> "Waveform":
        return cls(value.sample_rate)
