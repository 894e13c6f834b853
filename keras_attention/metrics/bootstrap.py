"""How far the difference between two systems may be chance."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from keras_attention.errors import one_of, positive_integer, require
from keras_attention.metrics.score import check_texts


class Difference(NamedTuple):
    """First system minus second, with the 95 % interval over test sets like this.

    The first is above the second, by more than chance, if `low` is above 0.

    Attributes:
        value: The difference on the test set itself.
        low: 2.5 % of the resampled test sets give less.
        high: 2.5 % of the resampled test sets give more.
    """

    value: float
    low: float
    high: float


def bootstrap_difference(
    first: np.ndarray,
    second: np.ndarray,
    score: Callable[[np.ndarray], float],
    resamples: int = 1000,
    seed: int = 0,
) -> Difference:
    """The interval of a difference between two systems on the same examples.

    Draws as many examples as there are, with replacement and the same for both
    systems, `resamples` times: easy and hard draws then move both alike and only the
    difference between the systems is left.

    Args:
        first: (n, k) statistics of every example under the first system, such as
            `[is it right, 1]` for accuracy.
        second: (n, k) of the same examples under the second system.
        score: The figure made of the k statistics summed over a test set.
        resamples: How many test sets to draw.
        seed: Of the draws.

    Returns:
        A `Difference`.

    Raises:
        ValueError: `first` and `second` are not of one shape (n, k) with n above 0.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.metrics import bootstrap_difference
        >>> right = np.array([[1, 1], [1, 1], [0, 1], [1, 1]])
        >>> tuple(bootstrap_difference(right, right, lambda sums: sums[0] / sums[1]))
        (0.0, 0.0, 0.0)

    Source: Koehn 2004, "Statistical significance tests for machine translation
    evaluation".
    """
    first, second = np.asarray(first), np.asarray(second)
    require(
        first.shape == second.shape and first.ndim == 2 and len(first) > 0,
        "`first` and `second` must have one shape (examples, statistics).",
        first=first.shape,
        second=second.shape,
    )
    positive_integer("resamples", resamples)
    count = len(first)
    # How often each draw has each example: (resamples, n).
    draws = np.random.default_rng(seed).multinomial(
        count, np.full(count, 1 / count), size=resamples
    )
    differences = [
        score(one) - score(other)
        for one, other in zip(draws @ first, draws @ second, strict=True)
    ]
    low, high = np.quantile(differences, [0.025, 0.975])
    value = score(first.sum(axis=0)) - score(second.sum(axis=0))
    return Difference(float(value), float(low), float(high))


def paired_bootstrap(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[str],
    metric: str = "bleu",
    resamples: int = 1000,
    seed: int = 0,
) -> Difference:
    """The interval of a difference in BLEU or chrF between two systems.

    Args:
        first: One output of the first system for each reference.
        second: One output of the second system for each reference.
        references: The texts both are compared with.
        metric: `"bleu"` or `"chrf"`, as the functions of these names.
        resamples: How many test sets to draw.
        seed: Of the draws.

    Returns:
        A `Difference`.

    Raises:
        ValueError: `metric` is none of the two, or the texts are not equally many.
    """
    from sacrebleu.metrics import BLEU, CHRF

    metrics = {"bleu": BLEU, "chrf": CHRF}
    scorer = metrics[one_of("metric", metric, metrics)]()
    check_texts(first=first, second=second, references=references)

    # sacreBLEU's own significance test works on these two methods too, but it gives
    # a p-value and the interval of each system, not that of the difference.
    def statistics(texts: Sequence[str]) -> np.ndarray:
        rows = scorer._extract_corpus_statistics(list(texts), [list(references)])
        return np.array(rows)

    def score(sums: np.ndarray) -> float:
        return scorer._compute_score_from_stats(sums.tolist()).score

    return bootstrap_difference(
        statistics(first), statistics(second), score, resamples, seed
    )
