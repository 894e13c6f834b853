import functools

import numpy as np
import tensorflow as tf

from applications.speech_recognition.sorting import by_length

LENGTHS = np.random.default_rng(3).permutation(np.arange(1, 71))


def clips():
    def clip(length):
        frames = tf.fill([length, 2], tf.cast(length, tf.float32))
        return frames, tf.fill([length % 5], tf.cast(length, tf.int32))

    return tf.data.Dataset.from_tensor_slices(LENGTHS).map(clip)


@functools.cache
def batches(key=(1, 2), size=2):
    return list(by_length(clips(), size, tf.constant(key)).as_numpy_iterator())


def test_every_clip_comes_once_with_its_text():
    found = batches()
    assert len(found) == 35
    rows = [row for batch in found for row in zip(*batch, strict=True)]
    assert sorted(length for _, length, *_ in rows) == list(range(1, 71))
    for frames, length, ids, count in rows:
        assert (frames[:length] == length).all()
        assert not frames[length:].any()
        assert ids[:count].tolist() == [length] * (length % 5)
        assert not ids[count:].any()


def test_batches_hold_clips_of_like_length():
    for frames, lengths, ids, counts in batches():
        assert frames.shape[1] == lengths.max()
        assert ids.shape[1] == counts.max()
    # Of 70 clips 32 are sorted together; in random order it is 23 on average.
    spread = [np.ptp(lengths) for _, lengths, *_ in batches()]
    assert np.mean(spread) < 4


def test_the_order_of_the_batches_is_random():
    def firsts(key):
        return [int(lengths[0]) for _, lengths, *_ in batches(key)]

    assert firsts((1, 2)) != firsts((1, 3))
    assert sorted(firsts((1, 2))) == sorted(firsts((1, 3)))
    again = by_length(clips(), 2, tf.constant((1, 2))).as_numpy_iterator()
    assert [int(lengths[0]) for _, lengths, *_ in again] == firsts((1, 2))


def test_the_last_batch_has_what_is_left():
    sizes = sorted(len(lengths) for _, lengths, *_ in batches(size=4))
    assert sizes == [2, *[4] * 17]
