import numpy as np
import pytest
import tensorflow as tf

from applications.audio.config import FrontEndConfig
from applications.audio.readers import SoundReader
from applications.datasets.load_audio import AudioSet
from applications.errors import UserError
from applications.keyword_spotting import readers

CONFIG = FrontEndConfig(mel_bands=7)
SOUNDS = AudioSet(("a", "b"), 8_000, None, "none")
FRAMES = AudioSet(("a", "b"), None, 3, "none")
CLIPS = np.random.default_rng(1).normal(5, 3, (2, 9, 3)).astype("float32")


def test_each_kind_of_set_has_its_reader():
    reader = readers.reader_of(SOUNDS, CONFIG, max_frames=40)
    assert isinstance(reader, SoundReader)
    assert (reader.frame_size, reader.max_frames) == (7, 40)
    assert readers.reader_of(FRAMES, CONFIG, max_frames=5).frame_size == 3


def test_frames_are_read_alike_from_a_set_a_file_and_a_batch(tmp_path):
    reader = readers.reader_of(FRAMES, CONFIG, max_frames=5)
    assert [spec.name for spec in reader.signature] == ["frames", "lengths"]
    path = tmp_path / "clip.npy"
    np.save(path, CLIPS[0])
    stored = reader.stored(tf.constant(CLIPS[0]), None).numpy()
    scaled = (CLIPS[0] - CLIPS[0].mean(0)) / CLIPS[0].std(0)
    np.testing.assert_allclose(stored, scaled[:5], atol=1e-4)
    np.testing.assert_array_equal(reader.read_file(str(path)), stored)
    frames, lengths = reader.read_batch(tf.constant(CLIPS), tf.constant([9, 2]))
    np.testing.assert_allclose(frames[0], stored, atol=1e-5)
    np.testing.assert_array_equal(frames[1, 2:], 0)
    assert lengths.numpy().tolist() == [5, 2]
    # What stands behind the end plays no part, lengths beyond it are cut.
    frames, lengths = reader.read_batch(tf.constant(CLIPS), tf.constant([99, 0]))
    np.testing.assert_allclose(frames[0], stored, atol=1e-5)
    assert lengths.numpy().tolist() == [5, 0]
    assert np.isfinite(frames).all()


def test_frames_without_normalization_stay_as_they_are():
    reader = readers.FrameReader(3, FrontEndConfig(normalization="none"), 99)
    stored = reader.stored(tf.constant(CLIPS[0]), None)
    np.testing.assert_array_equal(stored, CLIPS[0])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file"),
        (b"no numbers", "Expected a .npy file of frames"),
        (np.zeros((4, 2)), r"frames of the shape \(T, 3\)\. Received: \(4, 2\)"),
        (np.zeros((0, 3)), r"Received: \(0, 3\)"),
        (np.full((4, 3), np.nan), "must hold finite numbers"),
        (np.full((4, 3), "a"), "must hold finite numbers"),
    ],
)
def test_a_file_of_no_frames_is_one_line(content, words, tmp_path):
    path = tmp_path / "clip.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    with pytest.raises(UserError, match=words):
        readers.FrameReader(3, CONFIG, 99).read_file(str(path))
