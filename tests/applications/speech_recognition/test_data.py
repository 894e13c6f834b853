import numpy as np
import pytest
import tensorflow as tf

from applications.audio.config import SoundAugmentationConfig
from applications.errors import UserError
from applications.speech_recognition.characters import Characters
from tests.applications.speech_recognition.conftest import COUNTS, LETTERS, said

AUGMENTATION = SoundAugmentationConfig(
    speeds=(0.9, 1.0, 1.1), band_masks=1, time_masks=1, widest_time_mask=9
)


def epochs(data, first, last):
    batches = tf.data.Dataset.range(first, last).flat_map(data.train.epoch)
    return list(batches.as_numpy_iterator())


def equal(first, second):
    return len(first) == len(second) and all(
        np.array_equal(x, y)
        for one, other in zip(first, second, strict=True)
        for x, y in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True)
    )


@pytest.mark.parametrize("memory", [1000, 9])
def test_an_epoch_depends_on_seed_and_number_only(make_data, memory):
    """Of sounds that are changed at random, in memory and by a buffer."""
    tf.random.set_seed(1)  # tf.data takes no tensor as a seed beside 0
    options = {"augmentation": AUGMENTATION, "clips_in_memory": memory}
    data = make_data(train_limit=20, **options)
    count = data.train.count
    assert count == 3
    both = epochs(data, 0, 2)
    assert equal(epochs(make_data(train_limit=20, **options), 1, 2), both[count:])
    assert not equal(both[:count], both[count:])
    assert sum(len(inputs["frames"]) for inputs, _ in both) == 40


def test_unchanged_batches_hold_every_clip_once(make_data):
    data = make_data()
    clips = data.clips("train")
    assert len(clips.frames) == COUNTS["train"]
    rows = [frames.tobytes() for frames in clips.frames]
    expected = sorted(zip(rows, clips.texts, strict=True))
    found = []
    for inputs, labels in epochs(data, 3, 4):
        texts = data.characters.decode(tf.constant(labels["ctc"])).numpy()
        for frames, mask, text in zip(
            inputs["frames"], inputs["padding_mask"], texts, strict=True
        ):
            found.append((frames[mask].tobytes(), text.decode()))
    assert sorted(found) == expected


def test_labels_of_each_objective(make_data):
    inputs, labels = next(iter(make_data().train.epoch(0)))
    assert set(inputs) == {"frames", "padding_mask", "target"}
    assert set(labels) == {"ctc", "attention"}
    letters = labels["ctc"].numpy()
    np.testing.assert_array_equal(inputs["target"][:, 0], 1)
    np.testing.assert_array_equal(inputs["target"][:, 1:], letters)
    ends = (letters > 0).sum(axis=1)
    attention = labels["attention"].numpy()
    assert attention[np.arange(len(ends)), ends].tolist() == [2] * len(ends)
    np.testing.assert_array_equal((attention > 2).sum(axis=1), ends)
    inputs, labels = next(iter(make_data(objective="ctc").validation))
    assert set(inputs) == {"frames", "padding_mask"}
    assert set(labels) == {"ctc"}
    inputs, labels = next(iter(make_data(objective="attention").validation))
    assert set(inputs) == {"frames", "padding_mask", "target"}
    assert set(labels) == {"attention"}


def test_a_share_is_repeated_until_an_epoch_is_full(make_data):
    data = make_data(train_share=0.25)
    assert data.train.examples == COUNTS["train"]
    texts = [
        bytes(ids)
        for _, labels in epochs(data, 0, 1)
        for ids in labels["ctc"].astype("b")
    ]
    _, counts = np.unique([text.rstrip(b"\0") for text in texts], return_counts=True)
    different = {said("train", number) for number in range(COUNTS["train"])}
    assert sum(counts) == COUNTS["train"]
    assert len(counts) <= COUNTS["train"] // 4 < len(different)
    assert min(counts) >= 4


def test_validation_and_limits(make_data):
    data = make_data(validation_limit=5, test_limit=3)
    (batch,) = data.validation
    inputs, _ = batch
    assert inputs["frames"].shape[::2] == (5, 20)
    lengths = inputs["padding_mask"].numpy().sum(axis=1)
    assert lengths.max() == inputs["frames"].shape[1]
    assert len(data.clips("test").frames) == 3
    assert len(data.clips("test", 2).frames) == 2


def test_clips_as_they_are_stored(make_data):
    data = make_data()
    stored, heard = data.stored("test", 2), data.clips("test", 2)
    assert (len(stored.samples), stored.rate) == (2, 16_000)
    assert stored.samples[0].dtype == np.int16
    assert stored.texts == heard.texts
    assert heard.keys[0].startswith("test/")
    assert set("".join(heard.texts)) <= {*LETTERS, " "}
    assert data.impossible("test") == 0


def test_a_split_without_clips_is_refused(make_data, monkeypatch):
    data = make_data()
    empty = tf.data.Dataset.range(0)
    monkeypatch.setattr(
        "applications.speech_recognition.data.load_speech", lambda *_: empty
    )
    with pytest.raises(UserError, match="has no clips for test"):
        data.clips("test")


def test_characters_are_those_of_training(make_data):
    assert (
        make_data().characters.characters == Characters.of([LETTERS + " "]).characters
    )
