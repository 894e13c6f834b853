"""Sound of any usual rate to 16 kHz, inside a TensorFlow graph."""

import functools
from fractions import Fraction

import numpy as np
import tensorflow as tf

from applications.audio.config import SAMPLE_RATE
from applications.errors import UserError

RATES = (8_000, 16_000, 22_050, 32_000, 44_100, 48_000)
"""The rates in Hz that a graph takes, whose own clip says which it is."""

# The filter: a sinc of so many zero crossings on either side under a Kaiser window of
# this shape, which keeps what would fold back 60 dB down.
_ZERO_CROSSINGS = 10
_KAISER_BETA = 5.0

_MOST_PHASES = 1_000  # of the filter; 11,025 Hz need 640


def resample(waveform: tf.Tensor, rate: tf.Tensor) -> tf.Tensor:
    """Return a waveform of one of `RATES` at 16 kHz; those of 16 kHz as they are.

    Args:
        waveform: `(samples,)` float32.
        rate: Its samples of a second, a scalar that the graph knows when it runs.

    Raises:
        InvalidArgumentError: The rate is another one, which is named; when the graph
            runs.
    """
    known = tf.constant(RATES)
    branches = [functools.partial(from_rate, waveform, one) for one in RATES]
    is_known = tf.equal(known, tf.cast(rate, known.dtype))
    expected = ", ".join(map(str, RATES))
    said = [f"The sample rate must be one of {expected} Hz. Received:", rate]
    refusal = tf.debugging.Assert(tf.reduce_any(is_known), said)
    with tf.control_dependencies([] if refusal is None else [refusal]):
        index = tf.argmax(tf.cast(is_known, tf.int32), output_type=tf.int32)
    return tf.switch_case(index, branches)


def from_rate(waveform: tf.Tensor, rate: int) -> tf.Tensor:
    """Return a waveform of a rate that is known beforehand at 16 kHz.

    Raises:
        UserError: The rate has too little in common with 16 kHz.
    """
    ratio = Fraction(SAMPLE_RATE, int(rate))
    if ratio.numerator > _MOST_PHASES:
        expected = ", ".join(map(str, RATES))
        raise UserError(
            f"A sample rate of {rate} Hz cannot be made {SAMPLE_RATE} Hz. Expected "
            f"{expected} Hz, or one that has as much in common with it."
        )
    return stretched(waveform, ratio)


def stretched(waveform: tf.Tensor, ratio: Fraction) -> tf.Tensor:
    """Return a waveform with `ratio` times as many samples, smoothly.

    A polyphase filter, the same as `scipy.signal.resample_poly` designs: output `k` is
    `up * sum_j h[k * down - j * up] * waveform[j]` with the linear-phase low-pass `h`
    below the lower of both Nyquist frequencies. Beyond its ends the waveform counts as
    silence. Costs about `20 * max(up, down) / up + down` products an output sample.

    Args:
        waveform: `(samples,)` float32.
        ratio: `up / down`, above 0.

    Returns:
        `(ceil(samples * ratio),)` float32.
    """
    if ratio == 1:
        return waveform
    up, down = ratio.numerator, ratio.denominator
    filters, before = _filters(up, down)  # (width, 1, up)
    samples = tf.size(waveform, tf.int64)  # `samples * up` may be large
    count = -(-samples * up // down)
    # Of `up` outputs, each `down` inputs after the last.
    blocks = tf.maximum(-(-count // up), 1)
    end = (blocks - 1) * down + len(filters)
    after = tf.maximum(end - before - samples, 0)
    padded = tf.pad(waveform, [[before, after]])[None, :, None]
    outputs = tf.nn.conv1d(padded, filters, stride=down, padding="VALID")
    return tf.reshape(outputs, [-1])[:count]


@functools.cache
def _filters(up: int, down: int) -> tuple[np.ndarray, int]:
    """One filter for each phase of the output, `(width, 1, up)`, and where it begins.

    Phase `p` of a block lies at `p * down / up` inputs after the block's first one,
    which is tap `before`.
    """
    half = _ZERO_CROSSINGS * max(up, down)
    low_pass = _low_pass(half, max(up, down)) * up
    before = half // up
    width = before + ((up - 1) * down + half) // up + 1
    phase = down * np.arange(up)[None, :]
    tap = half + phase - up * (np.arange(width)[:, None] - before)  # (width, up)
    inside = (tap >= 0) & (tap <= 2 * half)
    filters = np.where(inside, low_pass[np.clip(tap, 0, 2 * half)], 0.0)
    return filters[:, None, :].astype(np.float32), before


def _low_pass(half: int, ratio: int) -> np.ndarray:
    """`2 * half + 1` taps that pass the lowest `1 / ratio` of all frequencies."""
    taps = np.sinc(np.arange(-half, half + 1) / ratio)
    taps *= np.kaiser(2 * half + 1, _KAISER_BETA)
    return taps / taps.sum()
