import numpy as np
import pytest
import tensorflow as tf

from applications.audio.decoding import decode, from_samples
from tests.applications.sound_files import noise, wav


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_channels_become_their_mean(channels):
    samples = noise(0, 37, channels)
    waveform, rate = decode(tf.constant(wav(samples, 22_050)))
    assert waveform.dtype == tf.float32
    assert int(rate) == 22_050
    np.testing.assert_allclose(waveform, samples.mean(axis=1) / 2**15, atol=1e-6)


def test_samples_of_a_set_are_what_their_file_decodes_to():
    samples = noise(1, 50)[:, 0]
    waveform, _ = decode(tf.constant(wav(samples)))
    np.testing.assert_array_equal(from_samples(tf.constant(samples)), waveform)


@pytest.mark.parametrize(
    "contents",
    [
        b"",
        b"no sound",
        wav(noise(0))[:30],
        wav(noise(0), subtype="PCM_24"),
        wav(noise(0), subtype="FLOAT"),
        wav(noise(0), subtype="PCM_U8"),
    ],
    ids=["empty", "text", "cut", "24_bits", "floats", "8_bits"],
)
def test_what_is_no_16_bit_wav_is_refused(contents):
    with pytest.raises(tf.errors.InvalidArgumentError):
        decode(tf.constant(contents))
