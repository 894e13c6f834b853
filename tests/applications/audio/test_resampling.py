from fractions import Fraction

import numpy as np
import pytest
import tensorflow as tf
from scipy import signal

from applications.audio.resampling import RATES, from_rate, resample, stretched
from applications.errors import UserError


def waveform(samples=2003):
    return np.random.default_rng(0).normal(size=samples).astype(np.float32)


@tf.function(
    input_signature=[tf.TensorSpec((None,), tf.float32), tf.TensorSpec((), tf.int32)]
)
def graph(sound, rate):
    return resample(sound, rate)


@pytest.mark.parametrize("rate", [*RATES, 11_025])
def test_scipy_resamples_the_same(rate):
    """To the rounding of float32 sums over some hundred taps."""
    ratio = Fraction(16_000, rate)
    expected = signal.resample_poly(waveform(), ratio.numerator, ratio.denominator)
    np.testing.assert_allclose(from_rate(waveform(), rate), expected, atol=2e-5)
    if rate in RATES:
        np.testing.assert_allclose(graph(waveform(), rate), expected, atol=2e-5)


@pytest.mark.parametrize("samples", [0, 1, 2, 5])
@pytest.mark.parametrize("rate", [8_000, 22_050, 48_000])
def test_the_shortest_sounds(samples, rate):
    ratio = Fraction(16_000, rate)
    found = graph(waveform(samples), rate).numpy()
    assert found.shape == (-(-samples * ratio.numerator // ratio.denominator),)
    if samples:
        expected = signal.resample_poly(
            waveform(samples), ratio.numerator, ratio.denominator
        )
        np.testing.assert_allclose(found, expected, atol=2e-5)


def test_a_tone_stays_what_it_is_and_what_would_fold_back_goes():
    seconds = np.arange(48_000) / 48_000
    low, high = (np.sin(2 * np.pi * hertz * seconds) for hertz in (1000, 11_000))
    found = from_rate((low + high).astype(np.float32), 48_000).numpy()
    expected = np.sin(2 * np.pi * 1000 * np.arange(16_000) / 16_000)
    np.testing.assert_allclose(found[200:-200], expected[200:-200], atol=5e-3)


@pytest.mark.parametrize("ratio", [Fraction(10, 11), Fraction(10, 9), Fraction(1)])
def test_small_changes_of_speed(ratio):
    expected = signal.resample_poly(waveform(), ratio.numerator, ratio.denominator)
    np.testing.assert_allclose(stretched(waveform(), ratio), expected, atol=2e-5)


@pytest.mark.parametrize("rate", [11_025, 96_000, 0, -1])
def test_the_graph_names_another_rate(rate):
    message = "must be one of 8000, 16000, 22050, 32000, 44100, 48000 Hz"
    for run in (graph, resample):
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            run(tf.constant(waveform(10)), tf.constant(rate))
        expected, _, received = str(error.value).partition("Received:")
        assert message in expected
        assert str(rate) in received


def test_a_rate_with_nothing_in_common_is_one_line():
    with pytest.raises(UserError, match="A sample rate of 44099 Hz cannot be") as error:
        from_rate(waveform(10), 44_099)
    assert "\n" not in str(error.value)
