"""How well recommendations rank what users took next, and what they are like."""

from typing import Any, NamedTuple

import numpy as np
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.metrics.top_k import check_classes


class Ranks(NamedTuple):
    """Where the target of each user stands among the candidates, ties kept.

    With `a` candidates above it and `t` that have its score, itself among them, the
    target may have any rank from `a + 1` to `a + t`, each as likely as the others. The
    methods give the mean over them for every user: what `bootstrap_difference` needs of
    two systems. Those of several batches are joined by
    `Ranks(*map(np.concatenate, zip(*parts)))`.

    Attributes:
        above: (B,) candidates scored above the target, NaN ones among them.
        tied: (B,) candidates of the target's score, itself included; 0 where that is
            NaN, which has no rank.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.metrics import Ranks
        >>> ranks = Ranks(above=np.array([0, 1, 1]), tied=np.array([1, 2, 0]))
        >>> ranks.average.tolist()
        [1.0, 2.5, inf]
        >>> ranks.hits(k=2).tolist()
        [1.0, 0.5, 0.0]
    """

    above: np.ndarray
    tied: np.ndarray

    @property
    def average(self) -> np.ndarray:
        """(B,) the mean rank, 1 = first; infinite where there is none."""
        return np.where(self.tied > 0, self.above + (self.tied + 1) / 2, np.inf)

    def hits(self, k: int = 10) -> np.ndarray:
        """(B,) the chance that the target is among the first k."""
        return self._mean_of(np.ones(positive_integer("k", k)))

    def gains(self, k: int = 10) -> np.ndarray:
        """(B,) the mean of `1 / log2(1 + rank)`, 0 behind rank k."""
        return self._mean_of(1 / np.log2(1 + _ranks_to(k)))

    def reciprocals(self, k: int | None = None) -> np.ndarray:
        """(B,) the mean of `1 / rank`, 0 behind rank k where that is given."""
        last = int((self.above + self.tied).max(initial=1)) if k is None else k
        return self._mean_of(1 / _ranks_to(last))

    def _mean_of(self, values: np.ndarray) -> np.ndarray:
        """The mean over the possible ranks of values for ranks 1, 2, ..., then 0."""
        sums = np.concatenate([[0.0], np.cumsum(values)])
        first = np.minimum(self.above, len(values))
        last = np.minimum(self.above + self.tied, len(values))
        return (sums[last] - sums[first]) / np.maximum(self.tied, 1)


def _ranks_to(k: int) -> np.ndarray:
    return np.arange(1, positive_integer("k", k) + 1)


def ranks(scores: Any, targets: Any, excluded: Any = None) -> Ranks:
    """The ranks of targets among the candidates that are not excluded.

    Equal scores are equal: a target's rank is the mean over the orders of what ties
    with it, so that no place in the list of candidates is better than another, and a
    model that gives all of them one score is as good as chance. `top_k_hits` takes the
    worst order instead: of few classes one is to be named and a classifier that cannot
    decide is wrong, while catalogues have true ties (counts of a popularity list), for
    which the worst order would punish a list that draws among them. A NaN score of the
    target has no rank; one of another candidate counts as above it.

    Args:
        scores: (B, C), higher is better: a column for every item, or for the target and
            sampled negatives. Numbers from the two are not comparable: say which.
        targets: (B,) integers, the target's column.
        excluded: (B, C) booleans, True = no candidate, such as padding and what the
            user has seen. By default all columns are candidates.

    Returns:
        A `Ranks`.

    Raises:
        ValueError: shapes do not fit, a target is no column, or it is excluded.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import metrics
        >>> scores = np.array([[0.1, 0.9, 0.5], [0.3, 0.3, 0.3]])
        >>> metrics.ranks(scores, [2, 0]).average.tolist()
        [2.0, 2.0]
        >>> seen = np.array([[False, True, False], [False, False, False]])
        >>> metrics.ranks(scores, [2, 0], excluded=seen).average.tolist()
        [1.0, 2.0]

    Source:
        McSherry and Najork 2008, "Computing information retrieval performance measures
        efficiently in the presence of tied scores". All items against sampled ones:
        Krichene and Rendle 2020, "On sampled metrics for item recommendation".
    """
    scores, targets = ops.convert_to_numpy(scores), np.asarray(targets)
    require(
        scores.ndim == 2 and targets.shape == scores.shape[:1] and targets.size > 0,
        "Targets must be (n,) and scores (n, candidates), with n above 0.",
        targets=targets.shape,
        scores=scores.shape,
    )
    check_classes("targets", targets, scores.shape[1])
    counted = ~_excluded(excluded, scores)
    rows = np.arange(len(targets))
    require(
        bool(counted[rows, targets].all()),
        "`excluded` must leave in the target of every row.",
        rows=np.flatnonzero(~counted[rows, targets])[:10].tolist(),
    )
    own = scores[rows, targets][:, None]
    above = counted & ~(scores <= own)  # a NaN is never below
    tied = counted & (scores == own)
    return Ranks(above.sum(axis=1), tied.sum(axis=1))


def _excluded(excluded: Any, scores: np.ndarray) -> np.ndarray:
    if excluded is None:
        return np.zeros(scores.shape, bool)
    excluded = ops.convert_to_numpy(excluded)
    require(
        excluded.dtype == bool and excluded.shape == scores.shape,
        "`excluded` must be booleans of the shape of the scores.",
        dtype=str(excluded.dtype),
        excluded=excluded.shape,
        scores=scores.shape,
    )
    return excluded


def hit_rate(ranks: Ranks, k: int = 10) -> float:
    """HR@k, the share of users whose target is among the first k.

    With one target for each user it is the recall. Ties count by the chance that they
    fall inside, see `ranks`.

    Args:
        ranks: Of the users.
        k: Length of the list.

    Returns:
        From 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import metrics
        >>> constant = metrics.ranks(np.zeros((1, 101)), [0])
        >>> round(metrics.hit_rate(constant, k=10), 4)
        0.099

    Source:
        He et al. 2017, "Neural collaborative filtering", arXiv:1708.05031, section 4.1.
    """
    return float(ranks.hits(k).mean())


def ndcg(ranks: Ranks, k: int = 10) -> float:
    """NDCG@k, the mean of `1 / log2(1 + rank)` of the target, 0 behind rank k.

    With one target for each user the best sum of gains is 1, so nothing is left to
    divide by. Ties count by the mean over their orders, see `ranks`.

    Args:
        ranks: Of the users.
        k: Length of the list.

    Returns:
        From 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import metrics
        >>> constant = metrics.ranks(np.zeros((1, 101)), [0])
        >>> round(metrics.ndcg(constant, k=10), 4)
        0.045

    Source:
        Järvelin and Kekäläinen 2002, "Cumulated gain-based evaluation of IR
        techniques", with the discount `log2(1 + rank)`, which is not 0 for the first.
    """
    return float(ranks.gains(k).mean())


def mean_reciprocal_rank(ranks: Ranks, k: int | None = None) -> float:
    """MRR, the mean of `1 / rank` of the target.

    Args:
        ranks: Of the users.
        k: Length of the list, behind which a rank gives 0; by default there is no end.

    Returns:
        From 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import metrics
        >>> found = metrics.ranks(np.array([[3, 2, 1], [3, 2, 1]]), [0, 1])
        >>> metrics.mean_reciprocal_rank(found)
        0.75

    Source:
        Voorhees 1999, "The TREC-8 question answering track report".
    """
    return float(ranks.reciprocals(k).mean())


# ------------------------------------------------------------- what lists are made of


def top_items(scores: Any, k: int = 10, excluded: Any = None) -> np.ndarray:
    """The ids of the k best items of each user.

    Args:
        scores: (B, V), the column is the item's id. Column 0, padding, is never given,
            and neither are scores of NaN and minus infinity.
        k: Length of the list.
        excluded: (B, V) booleans, True = not to be given.

    Returns:
        (B, k) integers, the best first and of equal ones the smaller id; 0 where no
        item is left.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import metrics
        >>> metrics.top_items(np.array([[9.0, 1.0, 3.0, 3.0]]), k=4).tolist()
        [[2, 3, 1, 0]]
    """
    scores = ops.convert_to_numpy(scores)
    positive_integer("k", k)
    hidden = _excluded(excluded, scores) | ~(scores > -np.inf)
    hidden[:, 0] = True
    order = np.argsort(np.where(hidden, np.inf, -scores), axis=1, kind="stable")[:, :k]
    ids = np.where(np.take_along_axis(hidden, order, axis=1), 0, order)
    return np.pad(ids, [(0, 0), (0, k - ids.shape[1])])


def coverage(recommended: Any, num_items: int) -> float:
    """The share of the catalogue that anybody is recommended.

    Args:
        recommended: Ids of any shape, 0 = none.
        num_items: Items there are; their ids go from 1 to `num_items`.

    Returns:
        From 0 to 1.

    Raises:
        ValueError: an id is none of the catalogue's.

    Examples:
        >>> from keras_attention.metrics import coverage
        >>> coverage([[1, 2], [2, 0]], num_items=4)
        0.5

    Source:
        Ge et al. 2010, "Beyond accuracy: evaluating recommender systems by coverage and
        serendipity", catalog coverage.
    """
    positive_integer("num_items", num_items)
    return len(_items("recommended", recommended, num_items)) / num_items


class PopularityBias(NamedTuple):
    """How popular what is recommended is, and what users took.

    Attributes:
        recommended: Mean percentile of the recommended items, from 0 to 1.
        taken: The same of the items that users took.
    """

    recommended: float
    taken: float

    @property
    def difference(self) -> float:
        """Above 0: the lists are more popular than what users take."""
        return self.recommended - self.taken


def popularity_bias(recommended: Any, taken: Any, counts: Any) -> PopularityBias:
    """Whether lists hold more popular items than users take.

    The popularity of an item is its percentile: the share of the catalogue that was
    taken less often, ties half. An item drawn at random has 0.5 on average.

    Args:
        recommended: Ids of any shape, 0 = none.
        taken: Ids of any shape of what the same users took, 0 = none.
        counts: (V,) how often each item was taken in training; that of id 0 is not
            looked at.

    Returns:
        A `PopularityBias`; a mean of no item is NaN.

    Raises:
        ValueError: an id is none of the catalogue's.

    Examples:
        >>> from keras_attention.metrics import popularity_bias
        >>> bias = popularity_bias([[4, 3]], taken=[1], counts=[0, 1, 2, 3, 9])
        >>> bias.recommended, bias.taken, bias.difference
        (0.75, 0.125, 0.625)

    Source:
        Abdollahpouri et al. 2019, "The unfairness of popularity bias in
        recommendation", arXiv:1907.13286, who compare mean counts, of which a few
        items make the most; ours are percentiles, and the difference is absolute.
    """
    counts = np.asarray(counts)[1:]
    ordered = np.sort(counts)
    less = np.searchsorted(ordered, counts, side="left")
    not_more = np.searchsorted(ordered, counts, side="right")
    percentiles = (less + not_more) / (2 * max(len(counts), 1))
    means = []
    for name, ids in (("recommended", recommended), ("taken", taken)):
        how_often = _items(name, ids, len(counts))
        total = sum(how_often.values())
        weighted = sum(n * percentiles[item - 1] for item, n in how_often.items())
        means.append(float(weighted / total) if total else float("nan"))
    return PopularityBias(*means)


def _items(name: str, ids: Any, num_items: int) -> dict[int, int]:
    """How often each item is among ids, those of none (0) left out."""
    ids = ops.convert_to_numpy(ids).reshape(-1)
    if ids.size:
        check_classes(name, ids, num_items + 1)
    items, how_often = np.unique(ids[ids != 0], return_counts=True)
    return dict(zip(items.tolist(), how_often.tolist(), strict=True))
