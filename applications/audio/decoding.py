"""The bytes of a WAV file, or stored samples, to a waveform, in a TensorFlow graph."""

import tensorflow as tf

from applications.audio.config import LOUDEST


def decode(contents: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the waveform of a WAV file, float32 `(samples,)`, and its rate, int32.

    Values are from -1 to 1. Several channels become one, their mean: TensorFlow's own
    conversion takes the first and drops the others.

    Args:
        contents: The bytes of a file of 16-bit PCM, a scalar string tensor. Other
            kinds of file are read outside the graph, by `applications.audio.reader`.

    Raises:
        InvalidArgumentError: The bytes are no such file; when the graph runs.

    Examples:
    >>> file = tf.audio.encode_wav([[0.5, 0.25], [-0.5, 0.0]], 16000)
    >>> waveform, rate = decode(file)
    >>> waveform.numpy().round(3).tolist(), int(rate)
    ([0.375, -0.25], 16000)
    """
    samples, rate = tf.audio.decode_wav(contents)  # (samples, channels)
    return tf.reduce_mean(samples, axis=-1), rate


def from_samples(samples: tf.Tensor) -> tf.Tensor:
    """Return int16 samples, as sets store them, as a waveform of the same values."""
    return tf.cast(samples, tf.float32) / LOUDEST
