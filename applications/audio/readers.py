"""From a clip to the frames that a model takes: one code for training and serving.

A reader says how a stored clip, a file of the user's and the inputs of a SavedModel
become frames `(T, F)`.
"""

import abc
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from applications.audio.config import FrontEndConfig
from applications.audio.decoding import from_samples
from applications.audio.features import FrontEnd
from applications.audio.reader import read_resampled
from applications.audio.resampling import from_rate

Change = Callable[[tf.Tensor], tf.Tensor]


class ClipReader(abc.ABC):
    """What readers of all kinds of clips share.

    Args:
        frame_size: Numbers of a frame, F.
        max_frames: Of a longer clip the first frames are read; none: all.

    Attributes:
        signature: What a SavedModel takes.
    """

    signature: list[tf.TensorSpec]

    def __init__(self, frame_size: int, max_frames: int | None = None):
        self.frame_size, self.max_frames = frame_size, max_frames

    @abc.abstractmethod
    def stored(
        self, clip: tf.Tensor, rate: int | None, change: Change | None = None
    ) -> tf.Tensor:
        """The frames of a clip of a set, of the rate that its description states.

        Args:
            clip: As `load_audio` or `load_speech` gives it.
            rate: Samples of a second, for sounds.
            change: Done to the waveform first, for sounds.
        """

    @abc.abstractmethod
    def read_file(self, path: str) -> np.ndarray:
        """The frames of a file; a `UserError` if it cannot be read."""

    @abc.abstractmethod
    def read_batch(self, *inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Padded frames `(B, T, F)` and their numbers `(B,)`, of what is served."""

    def cut(self, frames: tf.Tensor, lengths: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """A batch without what is beyond `max_frames`; the numbers as int32."""
        lengths = tf.cast(lengths, tf.int32)
        if self.max_frames is None:
            return frames, lengths
        return frames[:, : self.max_frames], tf.minimum(lengths, self.max_frames)


class SoundReader(ClipReader):
    """Sounds to log-mel frames, by the one front end.

    Args:
        config: Of the front end.
        max_frames: As above.
    """

    def __init__(self, config: FrontEndConfig, max_frames: int | None = None):
        super().__init__(config.mel_bands, max_frames)
        self._front_end = FrontEnd(config)
        self.signature = [tf.TensorSpec([None], tf.string, name="audio")]

    def stored(
        self, clip: tf.Tensor, rate: int | None, change: Change | None = None
    ) -> tf.Tensor:
        waveform = from_rate(from_samples(clip), rate)
        if change is not None:
            waveform = change(waveform)
        return self._front_end(waveform)[: self.max_frames]

    def read_file(self, path: str) -> np.ndarray:
        """Of a WAV, FLAC, OGG or MP3 file."""
        waveform = tf.constant(read_resampled(path))
        return self._front_end(waveform)[: self.max_frames].numpy()

    def read_batch(self, *inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Of the bytes `(B,)` of WAV files of 16-bit PCM."""
        return self.cut(*self._front_end.read_batch(*inputs))
