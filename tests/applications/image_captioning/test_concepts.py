import numpy as np
import pytest

from applications.image_captioning.concepts import Concepts

REFERENCES = [["a cow"], ["cat", "a cat"], ["a cat", "cat"], ["dog"], ["a cow"]]


def test_images_with_a_caption_in_common_are_one():
    assert Concepts(REFERENCES).count == 3


def test_articles_and_chains_of_captions_join_images():
    chain = [["cow"], ["boat"], ["a ship", "boat"], ["A cow"], ["vessel", "ship"]]
    values = np.array([1.0, 4, 4, 1, 4])
    found = Concepts([*chain, ["owl"]])
    assert found.count == 3
    # What differs within no concept has no spread within one.
    only = np.array([False, True, True, False, True, False])
    assert found.difference(np.append(values, 0), np.zeros(6), only) == (4, 4, 4)


def test_the_difference_is_that_of_the_means_over_images():
    first, second = np.arange(5.0), np.array([1.0, 0, 1, 0, 1])
    gap = Concepts(REFERENCES).difference(first, second)
    assert gap.value == pytest.approx(first.mean() - second.mean())
    assert gap.low < gap.value < gap.high


def test_two_drawings_of_one_thing_are_not_two_examples():
    """Doubling every image moves an interval over images, and not one over concepts."""
    draws = np.random.default_rng(0)
    scores, names = draws.uniform(size=50), [[str(i)] for i in range(50)]
    once = Concepts(names).difference(scores, np.zeros(50))
    twice = Concepts(names * 2).difference(np.tile(scores, 2), np.zeros(100))
    apart = Concepts([[str(i)] for i in range(100)])
    wrong = apart.difference(np.tile(scores, 2), np.zeros(100))
    assert twice == pytest.approx(once)
    assert wrong.high - wrong.low < 0.85 * (once.high - once.low)


def test_only_what_counts_is_looked_at():
    counted = np.array([False, True, True, False, False])
    values = np.array([100.0, 2, 4, 100, 100])
    gap = Concepts(REFERENCES).difference(values, np.ones(5), counted)
    assert gap == pytest.approx((2, 2, 2))
