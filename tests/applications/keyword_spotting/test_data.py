import numpy as np
import pytest
import tensorflow as tf

from applications.audio.config import SoundAugmentationConfig
from applications.errors import UserError
from tests.applications.keyword_spotting.conftest import CLASSES

AUGMENTATION = SoundAugmentationConfig(
    speeds=(0.9, 1.0, 1.1), band_masks=1, time_masks=1, widest_time_mask=9
)


def epochs(data, first, last):
    batches = tf.data.Dataset.range(first, last).flat_map(data.train.epoch)
    return [(x["frames"], x["padding_mask"], y) for x, y in batches.as_numpy_iterator()]


def equal(first, second):
    return len(first) == len(second) and all(
        np.array_equal(x, y)
        for pair in zip(first, second, strict=True)
        for x, y in zip(*pair, strict=True)
    )


@pytest.mark.parametrize("memory", [1000, 30])
def test_an_epoch_depends_on_seed_and_number_only(make_data, memory):
    """Of sounds that are changed at random, in memory and by a buffer."""
    tf.random.set_seed(1)  # tf.data takes no tensor as a seed beside 0
    options = {"augmentation": AUGMENTATION, "clips_in_memory": memory}
    data = make_data(train_limit=60, **options)
    count = data.train.count
    assert count == 3
    both = epochs(data, 0, 2)
    assert equal(epochs(make_data(train_limit=60, **options), 1, 2), both[count:])
    assert not equal(both[:count], both[count:])
    assert sum(len(labels) for *_, labels in both) == 120


def test_unchanged_batches_hold_every_clip_once(make_data):
    data = make_data(frames=True, train_limit=50)
    clips = data.clips("train")
    assert len(clips.frames) == 50
    rows = [clip.tobytes() for clip in clips.frames]
    expected = sorted(zip(rows, clips.labels, strict=True))
    for epoch in (0, 1):
        found = []
        for frames, mask, shares in epochs(data, epoch, epoch + 1):
            rows = [
                row[there].tobytes() for row, there in zip(frames, mask, strict=True)
            ]
            found += zip(rows, shares.argmax(axis=1), strict=True)
        assert sorted(found) == expected


def test_validation_and_limits(make_data):
    data = make_data(validation_limit=9, test_limit=7)
    (batch,) = data.validation
    inputs, shares = batch
    assert inputs["frames"].shape[::2] == (9, 40)
    assert shares.shape == (9, len(CLASSES))
    test = data.clips("test")
    assert len(test.frames) == len(test.labels) == 7
    assert len(data.clips("test", 3).frames) == 3
    lengths = inputs["padding_mask"].numpy().sum(axis=1)
    assert lengths.max() == inputs["frames"].shape[1]


def test_clips_as_they_are_stored(make_data):
    sounds, rate = make_data().stored("test", 2)
    assert (len(sounds), rate, sounds[0].dtype) == (2, 16_000, np.int16)
    frames, rate = make_data(frames=True).stored("test", 2)
    assert (rate, frames[0].shape[1], frames[0].dtype) == (None, 13, np.float32)


def test_frames_cannot_be_played_faster(make_data):
    data = make_data(frames=True, augmentation=AUGMENTATION)
    with pytest.raises(UserError, match="spoken_digits holds frames, which cannot"):
        _ = data.train


def test_other_frames_or_classes_are_refused(make_data):
    data = make_data(frames=True)
    data.known = data.known._replace(frame_size=40)
    words = "holds frames of 13 numbers; the model was trained on frames of 40 numbers"
    with pytest.raises(UserError, match=words):
        data.clips("test")
    data.known = data.known._replace(class_names=("0", "1"))
    with pytest.raises(UserError, match=r"new: 2, .*Train a new run"):
        data.clips("test")
