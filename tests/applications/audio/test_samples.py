import numpy as np
import tensorflow as tf

from applications.audio.resampling import RATES
from applications.audio.samples import odd_sounds, wav


def test_odd_sounds_are_files_of_their_kind():
    found = [tf.audio.decode_wav(file) for file in odd_sounds()]
    assert tuple(int(rate) for _, rate in found)[-6:] == RATES
    shapes = [samples.shape for samples, _ in found[:3]]
    assert shapes == [(8_000, 1), (20, 1), (4_000, 2)]


def test_samples_are_those_of_the_waveform():
    samples, rate = tf.audio.decode_wav(wav(np.array([0.5, -1.0]), 8_000))
    np.testing.assert_allclose(samples[:, 0], [0.5, -1], atol=1e-4)
    assert int(rate) == 8_000
