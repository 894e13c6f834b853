import numpy as np
import tensorflow as tf

from applications.language_modeling.spans import (
    composition,
    merged,
    place,
    poisson_lengths,
)


def seeds(count):
    return [tf.constant([7, number]) for number in range(count)]


def drawn(function, count):
    """What a function makes of each of so many seeds, in a graph."""
    numbers = tf.data.Dataset.range(count, output_type=tf.int32)
    made = numbers.map(lambda number: function(tf.stack([7, number])))
    return list(made.as_numpy_iterator())


def test_spans_and_the_rest_are_the_whole_row():
    for seed in seeds(20):
        spans = place(tf.constant(17), tf.constant([3, 1, 0, 2]), seed)
        taken, kept, gaps = (part.numpy() for part in spans)
        assert sorted([*taken, *kept]) == list(range(17))
        starts = gaps + np.array([0, 3, 4, 4])
        assert taken.tolist() == [
            start + n
            for start, length in zip(starts, (3, 1, 0, 2), strict=True)
            for n in range(length)
        ]
        assert np.all(np.diff(gaps) >= 1)  # a token between any two
        assert list(gaps) == [np.sum(kept < start) for start in starts]


def test_spans_reach_every_place():
    spans = drawn(lambda seed: place(tf.constant(5), tf.constant([2]), seed), 60)
    assert {int(one.taken[0]) for one in spans} == {0, 1, 2, 3}


def test_marks_stand_where_spans_were():
    for seed in seeds(10):
        ids = tf.range(100, 111)
        spans = place(tf.size(ids), tf.constant([2, 0]), seed)
        row = spans.replaced(ids, tf.constant([-1, -2])).numpy().tolist()
        first, second = row.index(-1), row.index(-2)
        missing = set(range(100, 111)) - set(row)
        assert missing == {100 + first, 101 + first}
        assert [n for n in row if n > 0] == sorted(n for n in row if n > 0)
        assert second > first + 1


def test_compositions_add_up_and_are_equally_likely():
    made = drawn(lambda seed: composition(tf.constant(4), tf.constant(3), seed), 300)
    found = [tuple(lengths) for lengths in made]
    counts = [found.count(one) for one in ((2, 1, 1), (1, 2, 1), (1, 1, 2))]
    assert sum(counts) == 300
    assert min(counts) > 70  # 100 each; standard deviation 8


def test_poisson_lengths_stop_at_their_total():
    found = drawn(lambda seed: poisson_lengths(tf.constant(30), 3.0, seed), 200)
    assert all(lengths.sum() == 30 for lengths in found)
    assert all(lengths[-1] > 0 for lengths in found)
    # The last is cut, so that only the others have the distribution's mean and zeros.
    others = np.concatenate([lengths[:-1] for lengths in found])
    assert abs(np.mean(others == 0) - np.exp(-3)) < 0.02
    assert 2.6 < np.mean(others) < 3.2


def test_keys_decide_the_order():
    row = merged(
        tf.constant([1, 2]), tf.constant([0, 4]), tf.constant([8, 9]), tf.range(1, 3)
    )
    assert row.numpy().tolist() == [1, 8, 9, 2]
