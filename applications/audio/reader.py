"""Sound files of every usual kind, read outside the graph."""

from pathlib import Path

import numpy as np

from applications.audio.config import LOUDEST
from applications.errors import UserError
from keras_attention.errors import import_extra


def read(path: Path | str) -> tuple[np.ndarray, int]:
    """Return the waveform of a WAV, FLAC, OGG or MP3 file and its rate.

    Values are from -1 to 1, float32 `(samples,)`; several channels become one, their
    mean. A WAV file of 16-bit PCM gives what `applications.audio.decoding.decode` gives
    in the graph.

    Raises:
        UserError: The file cannot be read, is no sound, or has none in it.
        ImportError: `soundfile` is not installed; says how to install it.
    """
    soundfile = import_extra("soundfile", "speech")
    try:
        with Path(path).open("rb") as file:
            samples, rate = soundfile.read(file, dtype="float32", always_2d=True)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    except soundfile.LibsndfileError as error:
        reason = error.error_string.strip().rstrip(".")
        raise UserError(
            f"{path} is no sound that can be read: expected a WAV, FLAC, OGG or MP3 "
            f"file. {reason}."
        ) from error
    if not samples.size:
        raise UserError(f"{path} has no sound in it.")
    if not np.isfinite(samples).all():
        raise UserError(f"{path} holds numbers that are not finite.")
    return samples.mean(axis=1, dtype=np.float32), rate


def read_resampled(path: Path | str) -> np.ndarray:
    """Return the waveform of a file at 16 kHz, float32 `(samples,)`.

    Raises:
        UserError: As `read`; or its rate cannot be made 16 kHz, which is named.
    """
    from applications.audio.resampling import from_rate

    waveform, rate = read(path)
    try:
        return np.asarray(from_rate(waveform, rate))
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def read_samples(path: Path | str) -> np.ndarray:
    """Return the samples of a file at 16 kHz as sets store them, int16 `(samples,)`."""
    return as_samples(read_resampled(path))


def as_samples(waveform: np.ndarray) -> np.ndarray:
    """Return a waveform from -1 to 1 as int16; what is louder is cut off."""
    samples = np.rint(waveform * LOUDEST)
    return np.clip(samples, -LOUDEST, LOUDEST - 1).astype("int16")
