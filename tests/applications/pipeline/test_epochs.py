import numpy as np
import tensorflow as tf

from applications.pipeline.epochs import ShuffledBatches


def numbers(seed=3):
    """Ten examples, three at a time, each batch with a random number of its own."""

    def shuffled(key, batch_size):
        order = tf.random.experimental.stateless_shuffle(tf.range(10), key)
        rows = tf.data.Dataset.from_tensor_slices(order).batch(batch_size)
        return rows.map(lambda row: (row, 2 * row))

    def changed(row, twice, key):
        return row, tf.random.stateless_uniform((), key) + tf.cast(twice, tf.float32)

    return ShuffledBatches(shuffled, changed, examples=10, batch_size=3, seed=seed)


def epochs(batches, first, last):
    found = tf.data.Dataset.range(first, last).flat_map(batches.epoch)
    return [(x.tolist(), y.tolist()) for x, y in found.as_numpy_iterator()]


def test_an_epoch_follows_from_seed_and_number_alone():
    batches = numbers()
    assert (batches.count, batches.examples) == (4, 10)
    both = epochs(batches, 0, 2)
    assert epochs(numbers(), 1, 2) == both[4:]
    assert both[:4] != both[4:]
    assert epochs(numbers(seed=4), 1, 2) != both[4:]
    for epoch in (both[:4], both[4:]):
        assert sorted(row for rows, _ in epoch for row in rows) == list(range(10))


def test_every_batch_is_changed_by_a_key_of_its_own():
    drawn = [y[0] - 2 * x[0] for x, y in epochs(numbers(), 0, 1)]
    assert all(0 <= one < 1 for one in drawn)
    assert len(np.unique(np.round(drawn, 6))) == 4
