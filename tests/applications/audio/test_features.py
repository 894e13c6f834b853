import numpy as np
import pytest
import tensorflow as tf

from applications.audio.config import FrontEndConfig
from applications.audio.decoding import decode
from applications.audio.features import FrontEnd
from applications.audio.resampling import resample
from tests.applications.sound_files import noise, wav

RAW = FrontEnd(FrontEndConfig(normalization="none"))
CLIP = FrontEnd(FrontEndConfig())
SILENCE = np.log(1e-6)


def sound(samples, value=0):
    return noise(value, samples)[:, 0].astype(np.float32) / 2**15


def mel(hertz):
    return 1127 * np.log1p(hertz / 700)


def by_hand(waveform, bands=80, low=20.0, high=7600.0):
    """Hann's window, Fourier transform, triangles on the mel scale, logarithm."""
    count = -(-len(waveform) // 160)
    padded = np.pad(waveform, (0, 400))
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    frames = np.stack([padded[160 * i : 160 * i + 400] for i in range(count)])
    energies = np.abs(np.fft.rfft(frames * window, 512)) ** 2
    edges = np.linspace(mel(low), mel(high), bands + 2)
    bins = mel(np.arange(257) * 16_000 / 512)[:, None]
    up = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    triangles = np.maximum(0, np.minimum(up, down))
    triangles[0] = 0  # a constant is no sound
    return np.log(energies @ triangles + 1e-6)


def test_frames_follow_the_formula():
    waveform = sound(1003)
    frames = RAW(tf.constant(waveform))
    assert frames.dtype == tf.float32
    np.testing.assert_allclose(frames, by_hand(waveform), atol=1e-3)


def test_each_band_of_a_clip_gets_mean_0_and_deviation_1():
    frames = CLIP(tf.constant(sound(5003))).numpy()
    np.testing.assert_allclose(frames.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(frames.std(axis=0), 1, atol=1e-4)
    quiet = CLIP(tf.constant(0.2 * sound(5003))).numpy()
    np.testing.assert_allclose(quiet, frames, atol=0.01)  # loudness plays no part


def test_a_tone_is_loudest_in_its_band():
    for hertz in (300, 1000, 4000):
        tone = np.sin(2 * np.pi * hertz * np.arange(1600) / 16_000).astype("float32")
        loudest = RAW(tf.constant(tone)).numpy()[2].argmax()
        centers = np.linspace(mel(20), mel(7600), 82)[1:-1]
        assert abs(centers[loudest] - mel(hertz)) <= centers[1] - centers[0]


@pytest.mark.parametrize("front_end", [RAW, CLIP], ids=["none", "clip"])
@pytest.mark.parametrize("samples", [0, 1, 159, 160, 161, 399, 400, 401])
def test_short_clips_and_silence_have_finite_frames(front_end, samples):
    for waveform in (sound(samples), np.zeros(samples, np.float32)):
        frames = front_end(tf.constant(waveform)).numpy()
        assert frames.shape == (max(1, -(-samples // 160)), 80)
        assert np.isfinite(frames).all()


def test_silence_is_the_floor_and_zero_when_normalized():
    silence = tf.zeros(4000)
    np.testing.assert_allclose(RAW(silence), SILENCE, rtol=1e-5)
    np.testing.assert_allclose(CLIP(silence), 0, atol=1e-3)


def test_sizes_follow_the_settings():
    config = FrontEndConfig(mel_bands=13, frame_milliseconds=32, hop_milliseconds=16)
    assert FrontEnd(config)(tf.zeros(2561)).shape == (11, 13)


FILES = [
    wav(noise(1, 3000)),
    wav(noise(2, 700, channels=2), 8000),
    wav(np.zeros((50, 1), np.int16), 44_100),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The signature of a SavedModel that holds the front end."""

    class Served(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((None,), tf.string)])
        def serve(self, wav_bytes):
            frames, lengths = CLIP.read_batch(wav_bytes)
            return {"frames": frames, "lengths": lengths}

    module, folder = Served(), str(tmp_path_factory.mktemp("saved"))
    tf.saved_model.save(module, folder, signatures={"serve": module.serve})
    loaded = tf.saved_model.load(folder)
    return loaded, loaded.signatures["serve"]


def test_training_and_a_saved_model_agree(served):
    """Rates, channels and lengths of all kinds in one batch; zeros behind the ends."""
    result = served[1](wav_bytes=tf.constant(FILES))
    assert result["lengths"].numpy().tolist() == [19, 9, 1]
    assert result["frames"].shape == (3, 19, 80)
    dataset = tf.data.Dataset.from_tensor_slices(FILES).map(CLIP.read)
    for row, frames in zip(result["frames"], dataset, strict=True):
        np.testing.assert_allclose(row[: len(frames)], frames, atol=1e-4)
        np.testing.assert_array_equal(row[len(frames) :], 0)
    waveform = resample(*decode(tf.constant(FILES[1])))
    np.testing.assert_allclose(CLIP(waveform), result["frames"][1, :9], atol=1e-4)


def test_an_empty_batch_is_empty(served):
    result = served[1](wav_bytes=tf.constant([], tf.string))
    assert result["lengths"].shape == (0,)
    assert result["frames"].shape[::2] == (0, 80)


def test_a_saved_model_names_a_wrong_rate(served):
    with pytest.raises(tf.errors.InvalidArgumentError, match="sample rate must be one"):
        served[1](wav_bytes=tf.constant([wav(noise(0), 12_345)]))


@pytest.mark.parametrize("samples", [0, 1, 159, 160, 161, 4_000])
def test_frames_are_counted_without_hearing_them(samples):
    assert RAW.count(samples) == len(RAW(tf.zeros(samples)))
