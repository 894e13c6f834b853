import numpy as np
import pytest
import soundfile
import tensorflow as tf

from applications.audio.config import FrontEndConfig
from applications.audio.readers import SoundReader
from applications.audio.samples import wav

CONFIG = FrontEndConfig(mel_bands=7)
SAMPLES = np.random.default_rng(0).integers(-9_000, 9_000, 4_000, dtype=np.int16)


@pytest.mark.parametrize("longest", [40, None])
def test_a_sound_is_read_alike_from_a_set_a_file_and_the_bytes(tmp_path, longest):
    reader = SoundReader(CONFIG, longest)
    count = longest or 50  # the end is cut, or not
    assert (reader.frame_size, reader.signature[0].name) == (7, "audio")
    stored = reader.stored(tf.constant(SAMPLES), 8_000).numpy()
    assert stored.shape == (count, 7)
    for suffix in ("wav", "flac"):
        path = tmp_path / f"clip.{suffix}"
        soundfile.write(path, SAMPLES, 8_000)
        np.testing.assert_allclose(reader.read_file(str(path)), stored, atol=1e-4)
    files = [wav(SAMPLES / 2**15, 8_000), wav(SAMPLES[:1600] / 2**15, 8_000)]
    frames, lengths = reader.read_batch(tf.constant(files))
    assert (lengths.numpy().tolist(), lengths.dtype) == ([count, 20], tf.int32)
    np.testing.assert_allclose(frames[0], stored, atol=1e-4)
    np.testing.assert_array_equal(frames[1, 20:], 0)


def test_a_change_is_done_to_the_waveform():
    reader = SoundReader(CONFIG, max_frames=99)
    plain = reader.stored(tf.constant(SAMPLES), 8_000)
    halved = reader.stored(tf.constant(SAMPLES), 8_000, lambda wave: wave[:4_000])
    assert (len(plain), len(halved)) == (50, 25)
