import re

import numpy as np
import pytest
import soundfile
import tensorflow as tf

from applications.audio.decoding import decode
from applications.audio.reader import as_samples, read, read_resampled, read_samples
from applications.errors import UserError
from tests.applications.sound_files import noise, wav


@pytest.mark.parametrize("channels", [1, 2])
def test_a_wav_file_is_what_the_graph_decodes(channels, tmp_path):
    contents = wav(noise(0, 50, channels), 8000)
    (tmp_path / "x.wav").write_bytes(contents)
    waveform, rate = read(tmp_path / "x.wav")
    expected, expected_rate = decode(tf.constant(contents))
    assert rate == int(expected_rate)
    assert waveform.dtype == np.float32
    np.testing.assert_array_equal(waveform, expected)


@pytest.mark.parametrize("ending", ["flac", "ogg", "mp3"])
def test_other_kinds_give_their_sound(ending, tmp_path):
    """FLAC loses nothing; of a low tone the others lose little."""
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    path = tmp_path / f"x.{ending}"
    soundfile.write(path, np.stack([tone, tone], axis=1), 16_000)
    waveform, rate = read(path)
    assert rate == 16_000
    assert len(waveform) == len(tone)
    loudness = np.sqrt(np.mean(waveform[1000:-1000] ** 2))
    np.testing.assert_allclose(loudness, 0.5 / np.sqrt(2), rtol=0.02)
    if ending == "flac":
        np.testing.assert_allclose(waveform, tone, atol=1e-4)


def test_any_rate_becomes_16_khz_samples(tmp_path):
    soundfile.write(tmp_path / "x.flac", noise(0, 441), 11_025)
    samples = read_samples(tmp_path / "x.flac")
    assert samples.dtype == np.int16
    assert samples.shape == (640,)
    same = noise(1, 300)
    soundfile.write(tmp_path / "y.wav", same, 16_000)
    np.testing.assert_array_equal(read_samples(tmp_path / "y.wav"), same[:, 0])


def test_samples_are_cut_off_where_a_waveform_is_too_loud():
    found = as_samples(np.array([-1.2, -1, -0.25, 0, 0.25, 1, 1.2], np.float32))
    assert found.tolist() == [-32768, -32768, -8192, 0, 8192, 32767, 32767]


def spoil(path, kind):
    if kind == "text":
        path.write_bytes(b"no sound at all")
    elif kind == "empty":
        soundfile.write(path, np.zeros((0, 1)), 16_000)
    elif kind == "not_finite":
        soundfile.write(path, np.array([0.0, np.nan]), 16_000, subtype="FLOAT")
    elif kind == "rate":
        soundfile.write(path, noise(0), 44_099)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("none", "x.wav cannot be read: No such file or directory."),
        ("text", "x.wav is no sound that can be read: expected a WAV, FLAC, OGG or MP"),
        ("empty", "x.wav has no sound in it."),
        ("not_finite", "x.wav holds numbers that are not finite."),
        ("rate", "x.wav: A sample rate of 44099 Hz cannot be made 16000 Hz. Expected"),
    ],
)
def test_a_bad_file_is_named_in_one_line(kind, message, tmp_path):
    spoil(tmp_path / "x.wav", kind)
    with pytest.raises(UserError, match=re.escape(message)) as error:
        read_resampled(tmp_path / "x.wav")
    assert "\n" not in str(error.value)
