import numpy as np
import pytest
import tensorflow as tf

from applications.audio.clips import in_random_order, model_inputs, padded, parallel

CLIPS = np.random.default_rng(1).normal(5, 3, (2, 9, 3)).astype("float32")


def _numbers(dataset):
    return [int(n) for clip, n in dataset if len(clip) == n]


@pytest.mark.parametrize("most", [6, 2])
def test_rows_of_any_length_in_random_order(most):
    rows = tf.data.Dataset.range(6).map(lambda n: (tf.range(n), n))
    order = in_random_order(rows, most)
    found = _numbers(order(tf.constant([1, 2])))
    assert sorted(found) == list(range(6))
    assert found != sorted(found)
    assert _numbers(order(tf.constant([1, 2]))) == found
    assert _numbers(order(tf.constant([1, 3]))) != found


@pytest.mark.parametrize("most", [6, 2])
def test_few_rows_come_again_until_there_are_enough(most):
    rows = tf.data.Dataset.range(3).map(lambda n: (tf.range(n), n))
    order = in_random_order(rows, most, examples=8)
    found = _numbers(order(tf.constant([1, 2])))
    assert sorted(found) == [0, 0, 0, 1, 1, 1, 2, 2]


def test_parts_of_two_lengths_belong_together():
    rows = tf.data.Dataset.range(5).map(lambda n: (tf.range(n), tf.range(2 * n)))
    order = in_random_order(rows, 5)
    pairs = [(len(clip), len(text)) for clip, text in order(tf.constant([1, 2]))]
    assert sorted(pairs) == [(n, 2 * n) for n in range(5)]


def test_what_is_done_in_parallel_keeps_its_order():
    rows = tf.data.Dataset.range(50)
    found = list(parallel(rows, lambda n: n + 1).as_numpy_iterator())
    assert found == list(range(1, 51))


def test_padding_stands_behind_the_ends():
    frames, lengths = padded([np.ones((1, 2)), np.ones((3, 2))])
    assert lengths.tolist() == [1, 3]
    assert frames.dtype == np.float32
    assert frames[:, :, 0].tolist() == [[1, 0, 0], [1, 1, 1]]


def test_what_a_model_takes():
    inputs = model_inputs(CLIPS, tf.constant([9, 2]))
    mask = inputs["padding_mask"].numpy()
    assert mask.sum(axis=1).tolist() == [9, 2]
    assert mask[1, :3].tolist() == [True, True, False]
    np.testing.assert_array_equal(inputs["frames"], CLIPS)
