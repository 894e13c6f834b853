"""From a clip to the frames that a model takes: one code for training and serving.

Clips of a set are sounds, or frames that somebody else has made of them. A reader for
either kind says how a stored clip, a file of the user's and the inputs of a SavedModel
become frames `(T, F)`; longer clips lose their end.
"""

import abc
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from applications.audio.config import FrontEndConfig
from applications.audio.decoding import from_samples
from applications.audio.features import FrontEnd, normalized
from applications.audio.reader import read_resampled
from applications.audio.resampling import from_rate
from applications.datasets.load_audio import AudioSet
from applications.errors import UserError

Change = Callable[[tf.Tensor], tf.Tensor]


class ClipReader(abc.ABC):
    """What both kinds share.

    Args:
        frame_size: Numbers of a frame, F.
        max_frames: Of a longer clip the first frames are read.

    Attributes:
        signature: What a SavedModel takes.
    """

    signature: list[tf.TensorSpec]

    def __init__(self, frame_size: int, max_frames: int):
        self.frame_size, self.max_frames = frame_size, max_frames

    @abc.abstractmethod
    def stored(
        self, clip: tf.Tensor, rate: int | None, change: Change | None = None
    ) -> tf.Tensor:
        """The frames of a clip of a set, of the rate that its description states.

        Args:
            clip: As `load_audio` gives it.
            rate: Samples of a second, for sounds.
            change: Done to the waveform first, for sounds.
        """

    @abc.abstractmethod
    def read_file(self, path: str) -> np.ndarray:
        """The frames of a file; a `UserError` if it cannot be read."""

    @abc.abstractmethod
    def read_batch(self, *inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Padded frames `(B, T, F)` and their numbers `(B,)`, of what is served."""


class SoundReader(ClipReader):
    """Sounds to log-mel frames, by the one front end.

    Args:
        config: Of the front end.
        max_frames: As above.
    """

    def __init__(self, config: FrontEndConfig, max_frames: int):
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
        frames, lengths = self._front_end.read_batch(*inputs)
        return _cut(frames, lengths, self.max_frames)


class FrameReader(ClipReader):
    """Frames as they are, but for their scale.

    Args:
        frame_size: As above.
        config: Whose normalization holds.
        max_frames: As above.
    """

    def __init__(self, frame_size: int, config: FrontEndConfig, max_frames: int):
        super().__init__(frame_size, max_frames)
        self._scaled = normalized if config.normalization == "clip" else tf.identity
        self.signature = [
            tf.TensorSpec([None, None, frame_size], tf.float32, name="frames"),
            tf.TensorSpec([None], tf.int32, name="lengths"),
        ]

    def stored(
        self, clip: tf.Tensor, rate: int | None, change: Change | None = None
    ) -> tf.Tensor:
        del rate, change
        clip = tf.ensure_shape(tf.cast(clip, tf.float32), (None, self.frame_size))
        return self._scaled(clip)[: self.max_frames]

    def read_file(self, path: str) -> np.ndarray:
        """Of a file `.npy` of NumPy, `(T, F)` finite numbers."""
        try:
            frames = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            reason = getattr(error, "strerror", None) or "it is no such file"
            raise UserError(
                f"{path} cannot be read: {reason}. Expected a .npy file of frames."
            ) from error
        if (
            np.ndim(frames) != 2
            or frames.shape[1] != self.frame_size
            or not len(frames)
        ):
            raise UserError(
                f"{path} must hold frames of the shape (T, {self.frame_size}). "
                f"Received: {np.shape(frames)}."
            )
        if not np.issubdtype(frames.dtype, np.number) or not np.isfinite(frames).all():
            raise UserError(f"{path} must hold finite numbers.")
        return self.stored(tf.constant(frames), None).numpy()

    def read_batch(self, *inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Of padded frames `(B, T, F)` and how many of them count, `(B,)`."""
        frames, lengths = inputs
        longest = tf.shape(frames)[1]

        def scaled(one: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
            clip, length = one
            return tf.pad(self._scaled(clip[:length]), [[0, longest - length], [0, 0]])

        lengths = tf.clip_by_value(lengths, 0, longest)
        spec = tf.TensorSpec((None, self.frame_size), tf.float32)
        frames = tf.map_fn(scaled, (frames, lengths), fn_output_signature=spec)
        return _cut(frames, lengths, self.max_frames)


def reader_of(known: AudioSet, config: FrontEndConfig, max_frames: int) -> ClipReader:
    """The reader for the clips of a set."""
    if known.frame_size is None:
        return SoundReader(config, max_frames)
    return FrameReader(known.frame_size, config, max_frames)


def model_inputs(frames: tf.Tensor, lengths: tf.Tensor) -> dict[str, Any]:
    """What `models.SoundClassifier` takes, of padded frames and their numbers."""
    mask = tf.sequence_mask(lengths, tf.shape(frames)[1])
    return {"frames": tf.convert_to_tensor(frames), "padding_mask": mask}


def _cut(
    frames: tf.Tensor, lengths: tf.Tensor, longest: int
) -> tuple[tf.Tensor, tf.Tensor]:
    return frames[:, :longest], tf.minimum(tf.cast(lengths, tf.int32), longest)
