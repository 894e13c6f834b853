"""WAV files made of numbers, and those that a served model must take."""

import numpy as np
import tensorflow as tf

from applications.audio.config import SAMPLE_RATE
from applications.audio.resampling import RATES

_LEVEL = 0.5


def wav(waveform: np.ndarray, rate: int = SAMPLE_RATE) -> bytes:
    """The bytes of a file of 16-bit PCM: samples from -1 to 1, channels last."""
    samples = np.asarray(waveform, "float32").reshape(len(waveform), -1)
    return tf.audio.encode_wav(samples, rate).numpy()


def odd_sounds() -> list[bytes]:
    """Files as users send them: silence, shorter than a frame, two channels, rates."""
    return [
        wav(np.zeros(8_000)),
        wav(np.full(20, _LEVEL)),
        wav(np.stack([np.zeros(4_000), np.full(4_000, _LEVEL)], axis=1)),
        *(wav(_LEVEL * np.sin(np.arange(rate // 2) / 20), rate) for rate in RATES),
    ]
