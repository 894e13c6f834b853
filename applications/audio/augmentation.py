"""Random changes of training sounds, the same at every resume.

Each follows from a key alone, as `tf.random.experimental.stateless_fold_in` returns it:
equal keys give equal results, whatever was drawn before.
"""

from fractions import Fraction
from functools import partial

import tensorflow as tf

from applications.audio.config import SoundAugmentationConfig
from applications.audio.resampling import stretched

_split = tf.random.experimental.stateless_split

_FINEST = 100  # most steps of a ratio of speeds; the filter has as many phases


class SpeedPerturbation:
    """Plays a clip faster or slower; its pitch changes with it.

    Ko et al. (2015, "Audio augmentation for speech recognition", Interspeech): 0.9, 1
    and 1.1, each as often as the others.

    Args:
        config: Which speeds; none changes nothing.

    Call args:
        waveform: `(samples,)` float32.
        key: int32 `(2,)`.

    Returns:
        `(ceil(samples / speed),)` float32.
    """

    def __init__(self, config: SoundAugmentationConfig):
        self._ratios = [
            Fraction(1 / speed).limit_denominator(_FINEST) for speed in config.speeds
        ]

    def __call__(self, waveform: tf.Tensor, key: tf.Tensor) -> tf.Tensor:
        if not self._ratios:
            return waveform
        drawn = tf.random.stateless_uniform((), key, 0, len(self._ratios), tf.int32)
        branches = [partial(stretched, waveform, ratio) for ratio in self._ratios]
        return tf.switch_case(drawn, branches)


class SpectrogramMasking:
    """Hides blocks of bands and of frames, in each clip of a batch other ones.

    Park et al. (2019, "SpecAugment", arXiv:1904.08779), without its warping of time.
    The width of a block is uniform from 0 to its widest, and so is its place. What is
    hidden is 0, the mean of normalized frames.

    Args:
        config: How many blocks, and how wide.

    Call args:
        frames: `(B, T, mel_bands)` float32.
        lengths: How many of them each clip has, `(B,)`.
        key: int32 `(2,)`.

    Returns:
        Frames of the same shape.
    """

    def __init__(self, config: SoundAugmentationConfig):
        self._config = config

    def __call__(
        self, frames: tf.Tensor, lengths: tf.Tensor, key: tf.Tensor
    ) -> tf.Tensor:
        config = self._config
        for_bands, for_time = tf.unstack(_split(key, 2))
        lengths = tf.cast(lengths, tf.float32)
        bands = tf.fill(tf.shape(lengths), tf.cast(tf.shape(frames)[2], tf.float32))
        widest = tf.minimum(
            float(config.widest_time_mask), tf.floor(lengths * config.time_mask_share)
        )
        hidden_bands = _blocks(
            tf.shape(frames)[2],
            bands,
            tf.minimum(float(config.widest_band_mask), bands),
            config.band_masks,
            for_bands,
        )
        hidden_time = _blocks(
            tf.shape(frames)[1], lengths, widest, config.time_masks, for_time
        )
        hidden = hidden_time[:, :, None] | hidden_bands[:, None, :]  # (B, T, bands)
        return tf.where(hidden, 0.0, frames)


def _blocks(
    size: tf.Tensor, used: tf.Tensor, widest: tf.Tensor, count: int, key: tf.Tensor
) -> tf.Tensor:
    """Which places of an axis are inside one of `count` random blocks, `(B, size)`.

    Args:
        size: Places of the axis.
        used: In how many of them, from the first on, blocks lie, `(B,)`.
        widest: Most places of a block, `(B,)`.
        count: Blocks of each row.
        key: Decides them.
    """
    shape = (2, tf.size(used), count)
    width, place = tf.unstack(tf.random.stateless_uniform(shape, key))
    width = tf.floor(width * (widest[:, None] + 1))  # (B, count)
    start = tf.floor(place * (used[:, None] - width + 1))
    places = tf.range(tf.cast(size, tf.float32))[None, :, None]
    inside = (places >= start[:, None]) & (places < (start + width)[:, None])
    return tf.reduce_any(inside, axis=-1)
