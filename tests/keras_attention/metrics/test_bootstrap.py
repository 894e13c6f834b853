"""The interval of a difference between two systems."""

import numpy as np
import pytest

from keras_attention.metrics import bleu, bootstrap_difference, chrf, paired_bootstrap

WORDS = tuple("abcdefghijklmnop")


def ratio(sums):
    return sums[0] / sums[1]


def accuracies(right):
    return np.stack([right, np.ones_like(right)], axis=1)


def corpus(count=60, seed=0):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, 9)) for _ in range(count)]


def broken(texts, share, seed):
    """The texts with a share of their words replaced."""
    random = np.random.default_rng(seed)

    def change(word):
        return "wrong" if random.random() < share else word

    return [" ".join(map(change, text.split())) for text in texts]


def test_interval_of_an_accuracy_is_the_normal_one():
    """Half right against always right: the difference has error sqrt(pq / n)."""
    half = np.arange(400) % 2
    found = bootstrap_difference(
        accuracies(half), accuracies(np.ones_like(half)), ratio, resamples=4000
    )
    assert found.value == pytest.approx(-0.5)
    error = 1.96 * np.sqrt(0.25 / 400)
    assert found.low == pytest.approx(-0.5 - error, abs=0.006)
    assert found.high == pytest.approx(-0.5 + error, abs=0.006)


def test_paired_draws_cancel_what_both_systems_share():
    """A constant lead has an interval of no width, however hard examples differ."""
    easy = np.random.default_rng(0).normal(scale=10, size=100)
    found = bootstrap_difference(accuracies(easy + 1), accuracies(easy), ratio)
    assert found == pytest.approx((1, 1, 1))


def test_same_seed_same_interval():
    first, second = accuracies(np.arange(50) % 2), accuracies(np.arange(50) % 3 % 2)
    one, again, other = (
        bootstrap_difference(first, second, ratio, seed=seed) for seed in (1, 1, 2)
    )
    assert one == again != other


@pytest.mark.parametrize(("metric", "score"), [("bleu", bleu), ("chrf", chrf)])
def test_difference_is_that_of_the_corpus_scores(metric, score):
    references = corpus()
    good, bad = broken(references, 0.1, 1), broken(references, 0.4, 2)
    found = paired_bootstrap(good, bad, references, metric, resamples=200)
    expected = score(good, references).value - score(bad, references).value
    assert found.value == pytest.approx(expected)
    assert 0 < found.low < found.value < found.high


def test_equally_good_systems_are_not_told_apart():
    references = corpus()
    first, second = broken(references, 0.2, 1), broken(references, 0.2, 2)
    found = paired_bootstrap(first, second, references, resamples=200)
    assert found.low < 0 < found.high


def test_refuses_what_does_not_pair():
    with pytest.raises(ValueError, match="must have one shape"):
        bootstrap_difference(np.ones((3, 2)), np.ones((4, 2)), ratio)
    with pytest.raises(ValueError, match="`first` and `second` and `references`"):
        paired_bootstrap(["a"], ["a"], ["a", "b"])
    with pytest.raises(ValueError, match="`metric` must be one of 'bleu', 'chrf'"):
        paired_bootstrap(["a"], ["a"], ["a"], metric="rouge")
