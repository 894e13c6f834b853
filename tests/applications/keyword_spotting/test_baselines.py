import numpy as np

from applications.keyword_spotting import baselines
from applications.keyword_spotting.baselines import STEPS
from applications.keyword_spotting.data import Clips


def line(length, first, last):
    """A clip of one number that goes from one value to another."""
    return np.linspace(first, last, length)[:, None]


def test_patterns_do_not_depend_on_the_length():
    found = baselines.patterns([line(4, 0, 9), line(50, 0, 9)])
    np.testing.assert_allclose(found, np.tile(np.linspace(0, 9, STEPS), (2, 1)))
    one = baselines.patterns([np.array([[1.0, 2.0]])])  # a single frame
    np.testing.assert_array_equal(one[0].reshape(STEPS, 2), [[1, 2]] * STEPS)


def test_the_nearest_mean_and_the_most_frequent():
    frames = [line(5, 0, 1), line(7, 0, 1), line(9, 1, 0)]
    train = Clips(frames, np.array([4, 4, 2]))
    test = [line(20, 0.2, 1), line(3, 0.9, 0), line(6, 5, 6)]
    assert baselines.nearest_mean(train, test).tolist()[:2] == [4, 2]
    assert baselines.most_frequent(train, 3).tolist() == [4, 4, 4]


def test_the_nearest_is_that_of_all_distances():
    random = np.random.default_rng(0)
    labels = np.arange(60) % 4
    frames = [random.normal(size=(n % 7 + 1, 3)) for n in range(60)]
    found = baselines.nearest_mean(Clips(frames, labels), frames)
    rows = baselines.patterns(frames)
    means = np.stack([rows[labels == label].mean(axis=0) for label in range(4)])
    distances = ((rows[:, None] - means) ** 2).sum(axis=-1)
    np.testing.assert_array_equal(found, distances.argmin(axis=1))
