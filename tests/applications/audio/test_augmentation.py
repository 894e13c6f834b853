import numpy as np
import pytest
import tensorflow as tf

from applications.audio.augmentation import SpectrogramMasking, SpeedPerturbation
from applications.audio.config import SoundAugmentationConfig

COUNT, FRAMES, BANDS = 101, 59, 23
LENGTHS = np.full(COUNT, FRAMES)
LENGTHS[:30] = 20


def key(*numbers):
    return tf.constant(numbers, tf.int32)


def hidden(drawn=(3, 5), **config):
    """Where frames of ones are masked, `(B, T, bands)`."""
    masking = SpectrogramMasking(SoundAugmentationConfig(**config))
    return masking(tf.ones((COUNT, FRAMES, BANDS)), LENGTHS, key(*drawn)).numpy() == 0


def test_no_settings_change_nothing():
    assert not hidden().any()
    waveform = tf.random.stateless_normal((100,), (1, 2))
    unchanged = SpeedPerturbation(SoundAugmentationConfig())(waveform, key(1, 2))
    np.testing.assert_array_equal(unchanged, waveform)


def test_a_band_mask_is_one_block_of_every_frame():
    masks = hidden(band_masks=1, widest_band_mask=7)
    assert (masks == masks[:, :1]).all()
    bands = masks[:, 0]
    widths = bands.sum(axis=1)
    assert widths.min() == 0
    assert widths.max() == 7
    assert bands.any(axis=0).all()  # in every place, at both ends too
    starts = np.diff(bands.astype(int), axis=1, prepend=0) == 1
    assert starts.sum(axis=1).max() == 1


def test_a_time_mask_is_a_share_of_the_clip_and_inside_it():
    config = {"time_masks": 1, "widest_time_mask": 8, "time_mask_share": 0.2}
    masks = np.stack([hidden((3, number), **config) for number in range(10)])
    assert (masks == masks[..., :1]).all()
    short, long = masks[:, :30, :, 0], masks[:, 30:, :, 0]
    assert short.sum(axis=-1).max() == 4  # a fifth of 20
    assert long.sum(axis=-1).max() == 8
    assert not short[..., 20:].any()
    assert short[..., :20].any(axis=(0, 1)).all()
    assert long.any(axis=(0, 1)).all()


def test_several_masks_hide_more_and_clips_differ():
    one, three = (hidden(band_masks=n, time_masks=n).mean() for n in (1, 3))
    assert three > 1.5 * one
    masks = hidden(band_masks=2, time_masks=2)
    assert len({mask.tobytes() for mask in masks}) > COUNT / 2


def test_masks_follow_from_the_key_alone():
    config = {"band_masks": 2, "time_masks": 2}
    first = hidden(**config)
    tf.random.set_seed(99)
    np.testing.assert_array_equal(hidden(**config), first)
    assert (hidden((3, 6), **config) != first).any()


def test_what_is_not_hidden_stays_in_a_graph_of_any_size():
    masking = SpectrogramMasking(
        SoundAugmentationConfig(band_masks=1, time_masks=1, widest_band_mask=27)
    )
    signature = [
        tf.TensorSpec((None, None, BANDS), tf.float32),
        tf.TensorSpec((None,), tf.int64),
        tf.TensorSpec((2,), tf.int32),
    ]
    graph = tf.function(masking, input_signature=signature)
    frames = tf.random.stateless_normal((7, FRAMES, BANDS), (1, 2))
    found = graph(frames, LENGTHS[:7], key(1, 2)).numpy()
    np.testing.assert_array_equal(found[found != 0], frames.numpy()[found != 0])
    assert (found == 0).any()


@pytest.fixture(scope="module")
def speeds():
    perturbation = SpeedPerturbation(SoundAugmentationConfig(speeds=(0.9, 1.0, 1.1)))
    signature = [tf.TensorSpec((None,), tf.float32), tf.TensorSpec((2,), tf.int32)]
    return tf.function(perturbation, input_signature=signature)


def test_speeds_are_drawn_alike_and_by_the_key(speeds):
    waveform = tf.zeros(990)
    lengths = [len(speeds(waveform, key(7, number))) for number in range(120)]
    assert set(lengths) == {1100, 990, 900}
    assert min(map(lengths.count, set(lengths))) > 20
    again = [len(speeds(waveform, key(7, number))) for number in range(9)]
    assert again == lengths[:9]


def test_a_faster_clip_is_higher(speeds):
    seconds = np.arange(16_000) / 16_000
    tone = np.sin(2 * np.pi * 1000 * seconds).astype(np.float32)
    pitches = set()
    for number in range(20):
        changed = speeds(tone, key(7, number)).numpy()
        spectrum = np.abs(np.fft.rfft(changed))
        hertz = spectrum.argmax() * 16_000 / len(changed)
        assert hertz * len(changed) == pytest.approx(16_000 * 1000, rel=1e-3)
        pitches.add(round(hertz, -1))
    assert pitches == {900, 1000, 1100}
