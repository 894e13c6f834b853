"""From a waveform to the frames that a model hears, inside a TensorFlow graph.

The one front end: training maps its clips with it, and a SavedModel holds it, so that
both hear equal frames.
"""

import math
from dataclasses import dataclass

import tensorflow as tf

from applications.audio.config import SAMPLE_RATE, FrontEndConfig
from applications.audio.decoding import decode
from applications.audio.resampling import resample

# Added to every band's energy: silence has a logarithm, -13.8, and what is quieter than
# the noise of 16 bits does not count.
_FLOOR = 1e-6
# Least deviation of a band, in natural logarithms: silence is not blown up.
_LEAST_DEVIATION = 1e-2


@dataclass(frozen=True)
class FrontEnd:
    """Log-mel energies: how loud each band of frequencies is in each frame.

    A frame is weighted by Hann's window; the energies of its Fourier transform are
    summed over triangles equally wide on the mel scale (HTK's), and their natural
    logarithm is taken. With `normalization="clip"` every band of a clip then gets mean
    0 and standard deviation 1 over the clip's own frames, so that neither a
    microphone's colour nor its loudness matters, and 0 is what padding may hold.

    A clip of `n` samples has `ceil(n / hop)` frames, and one at least: the last frames
    reach beyond its end, into silence. So clips shorter than a frame, and empty ones,
    have frames too, and those of silence are finite: zeros, if normalized.

    Attributes:
        config: Bands, frames and normalization.

    Call args:
        waveform: `(samples,)` float32 from -1 to 1, of 16 kHz.

    Returns:
        `(frames, mel_bands)` float32.
    """

    config: FrontEndConfig

    def __call__(self, waveform: tf.Tensor) -> tf.Tensor:
        length, hop = self._frame_samples, self._hop_samples
        missing = tf.maximum(1 - tf.size(waveform), 0)
        spectrum = tf.signal.stft(
            tf.pad(waveform, [[0, missing]]),
            frame_length=length,
            frame_step=hop,
            fft_length=self._fft_length,
            pad_end=True,
        )  # (frames, fft_length / 2 + 1)
        energies = tf.matmul(tf.abs(spectrum) ** 2, self._triangles())
        frames = tf.math.log(energies + _FLOOR)
        if self.config.normalization == "clip":
            frames = normalized(frames)
        return tf.ensure_shape(frames, (None, self.config.mel_bands))

    def count(self, samples: int) -> int:
        """How many frames a waveform of so many samples has."""
        return max(1, -(-samples // self._hop_samples))

    def read(self, contents: tf.Tensor) -> tf.Tensor:
        """The frames of a WAV file of 16-bit PCM, from its bytes, a scalar string.

        Raises:
            InvalidArgumentError: The bytes are no such file, or its rate is none of
                `resampling.RATES`; when the graph runs.
        """
        return self(resample(*decode(contents)))

    def read_batch(self, contents: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The frames of any number of such files, `(B,)`.

        Returns:
            Frames `(B, T, mel_bands)`, zeros behind the end of a clip, and how many
            each clip has, int64 `(B,)`.
        """
        bands = self.config.mel_bands
        # As one row of numbers a clip: of an empty batch `map_fn` knows no inner shape.
        rows = tf.map_fn(
            lambda one: tf.reshape(self.read(one), [-1]),
            contents,
            fn_output_signature=tf.RaggedTensorSpec((None,), tf.float32),
        )
        padded, lengths = rows.to_tensor(), rows.row_lengths() // bands
        size = tf.shape(padded)
        return tf.reshape(padded, [size[0], size[1] // bands, bands]), lengths

    @property
    def _frame_samples(self) -> int:
        return self.config.frame_milliseconds * SAMPLE_RATE // 1000

    @property
    def _hop_samples(self) -> int:
        return self.config.hop_milliseconds * SAMPLE_RATE // 1000

    @property
    def _fft_length(self) -> int:
        """The next power of two."""
        return 2 ** math.ceil(math.log2(self._frame_samples))

    def _triangles(self) -> tf.Tensor:
        """From frequencies to bands, `(fft_length / 2 + 1, mel_bands)`."""
        return tf.signal.linear_to_mel_weight_matrix(
            self.config.mel_bands,
            self._fft_length // 2 + 1,
            SAMPLE_RATE,
            self.config.lowest_hertz,
            self.config.highest_hertz,
        )


def normalized(frames: tf.Tensor) -> tf.Tensor:
    """Every number of the frames `(T, F)` of a clip to mean 0 and deviation 1."""
    mean, variance = tf.nn.moments(frames, axes=[0])
    deviation = tf.maximum(tf.sqrt(variance), _LEAST_DEVIATION)
    return (frames - mean) / deviation
