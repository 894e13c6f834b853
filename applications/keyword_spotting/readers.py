"""From a clip to the frames that a keyword model takes: sounds, or frames of others.

Clips of a set are sounds, or frames that somebody else has made of them; the reader of
either kind is one code for training and serving. Longer clips lose their end.
"""

import numpy as np
import tensorflow as tf

from applications.audio.config import FrontEndConfig
from applications.audio.features import normalized
from applications.audio.readers import Change, ClipReader, SoundReader
from applications.datasets.load_audio import AudioSet
from applications.errors import UserError


class FrameReader(ClipReader):
    """Frames as they are, but for their scale.

    Args:
        frame_size: Numbers of a frame, F.
        config: Whose normalization holds.
        max_frames: Of a longer clip the first frames are read.
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
        return self.cut(frames, lengths)


def reader_of(known: AudioSet, config: FrontEndConfig, max_frames: int) -> ClipReader:
    """The reader for the clips of a set."""
    if known.frame_size is None:
        return SoundReader(config, max_frames)
    return FrameReader(known.frame_size, config, max_frames)
