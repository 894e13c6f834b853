"""Ranks and lists: by hand, against all orders of the tied, and what wins nothing."""

import itertools

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.metrics import (
    Ranks,
    bootstrap_difference,
    coverage,
    hit_rate,
    mean_reciprocal_rank,
    ndcg,
    popularity_bias,
    ranks,
    top_items,
)

NAN, INF = float("nan"), float("inf")
SCORES = np.array([[0.1, 0.9, 0.5, 0.2], [4, 3, 2, 1], [-4, -3, -2, -1]], "float32")


def test_by_hand():
    found = ranks(SCORES, [2, 0, 0])
    assert found.average.tolist() == [2, 1, 4]
    assert hit_rate(found, 1) == pytest.approx(1 / 3)
    assert hit_rate(found, 3) == pytest.approx(2 / 3)
    assert ndcg(found, 3) == pytest.approx((1 / np.log2(3) + 1) / 3)
    assert mean_reciprocal_rank(found) == pytest.approx((1 / 2 + 1 + 1 / 4) / 3)
    assert mean_reciprocal_rank(found, 3) == pytest.approx((1 / 2 + 1) / 3)


# --------------------------------------------------------------------- ties and NaN


@pytest.mark.parametrize("place", [0, 50, 100])
def test_c57_a_constant_is_as_good_as_chance_wherever_the_target_stands(place):
    found = ranks(np.full((1, 101), 0.3), [place])
    assert hit_rate(found, 10) == pytest.approx(10 / 101)
    assert ndcg(found, 10) == pytest.approx(0.0450, abs=5e-5)
    assert found.average.tolist() == [51]


@pytest.mark.parametrize("place", [0, 50, 100])
def test_c57_nan_wins_nothing(place):
    found = ranks(np.full((1, 101), NAN), [place])
    for k in (1, 10, 101, 1000):
        assert hit_rate(found, k) == ndcg(found, k) == 0
        assert mean_reciprocal_rank(found, k) == 0
    assert mean_reciprocal_rank(found) == 0
    assert found.average.tolist() == [INF]


def test_nan_of_another_candidate_stands_above():
    found = ranks(np.array([[1.0, NAN, 0.0], [-INF, NAN, NAN]]), [0, 0])
    assert found.average.tolist() == [2, 3]


def mean_over_orders(scores, target, value):
    """The mean of `value(rank)` over all orders of the candidates that ties allow."""
    values = []
    for order in itertools.permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            values.append(value(order.index(target) + 1))
    return np.mean(values)


@settings(deadline=None, max_examples=50)  # 720 orders, on a machine that is shared
@given(
    scores=st.lists(st.integers(0, 2), min_size=1, max_size=6),
    k=st.integers(1, 7),
    data=st.data(),
)
def test_ties_are_the_mean_over_their_orders(scores, k, data):
    target = data.draw(st.integers(0, len(scores) - 1))
    found = ranks(np.array([scores], float), [target])
    expected = {
        "average": mean_over_orders(scores, target, lambda rank: rank),
        "hit": mean_over_orders(scores, target, lambda rank: rank <= k),
        "gain": mean_over_orders(
            scores, target, lambda rank: (rank <= k) / np.log2(rank + 1)
        ),
        "reciprocal": mean_over_orders(scores, target, lambda rank: 1 / rank),
        "reciprocal_to_k": mean_over_orders(
            scores, target, lambda rank: (rank <= k) / rank
        ),
    }
    values = {
        "average": found.average[0],
        "hit": found.hits(k)[0],
        "gain": found.gains(k)[0],
        "reciprocal": found.reciprocals()[0],
        "reciprocal_to_k": found.reciprocals(k)[0],
    }
    assert values == pytest.approx(expected)


@settings(deadline=None)
@given(
    scores=st.lists(st.integers(0, 2), min_size=2, max_size=8),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_what_is_excluded_is_as_if_it_were_not_there(scores, seed, data):
    target = data.draw(st.integers(0, len(scores) - 1))
    hidden = np.random.default_rng(seed).random(len(scores)) < 0.4
    hidden[target] = False
    found = ranks(np.array([scores], float), [target], hidden[None])
    left = np.array([scores], float)[:, ~hidden]
    expected = ranks(left, [np.flatnonzero(~hidden).tolist().index(target)])
    assert (found.above, found.tied) == (expected.above, expected.tied)


# -------------------------------------------------------------------- joining, tensors


def test_batches_are_joined():
    parts = [ranks(SCORES[:1], [2]), ranks(SCORES[1:], [0, 0])]
    joined = Ranks(*map(np.concatenate, zip(*parts, strict=True)))
    assert joined.average.tolist() == ranks(SCORES, [2, 0, 0]).average.tolist()


def test_values_of_users_are_what_the_bootstrap_takes():
    first, second = ranks(SCORES, [1, 0, 3]), ranks(SCORES, [2, 0, 3])
    tables = [np.stack([x.hits(1), np.ones(3)], axis=1) for x in (first, second)]
    difference = bootstrap_difference(*tables, lambda sums: sums[0] / sums[1])
    assert difference.value == pytest.approx(1 / 3)


def test_scores_may_be_tensors():
    found = ranks(keras.ops.convert_to_tensor(SCORES), np.array([2, 0, 0]))
    assert found.average.tolist() == [2, 1, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SCORES[0], [1]), r"Targets must be \(n,\)"),
        ((SCORES, [1, 2]), r"Targets must be \(n,\)"),
        ((SCORES[:0], np.zeros(0, int)), r"Targets must be \(n,\)"),
        ((SCORES, [1, 2, 4]), "`targets` must be integers from 0 to 3"),
        ((SCORES, [0.5, 1, 2]), "`targets` must be integers"),
        ((SCORES, [1, 2, 3], SCORES > 3.5), None),
        ((SCORES, [1, 0, 3], SCORES > 3.5), r"leave in the target of every row.*\[1\]"),
        ((SCORES, [1, 2, 3], SCORES), "`excluded` must be booleans"),
        ((SCORES, [1, 2, 3], SCORES[:2] > 9), "of the shape of the scores"),
    ],
)
def test_what_cannot_be_ranked_is_refused(arguments, message):
    if message is None:
        assert ranks(*arguments).average.tolist() == [1, 2, 1]
        return
    with pytest.raises(ValueError, match=message):
        ranks(*arguments)


@pytest.mark.parametrize("k", [0, -1, 2.5])
def test_k_is_a_positive_integer(k):
    found = ranks(SCORES, [2, 0, 0])
    for measure in (hit_rate, ndcg, mean_reciprocal_rank):
        with pytest.raises(ValueError, match="`k` must be a positive integer"):
            measure(found, k)
    with pytest.raises(ValueError, match="`k` must be a positive integer"):
        top_items(SCORES, k)


# ------------------------------------------------------------------------------ lists


def test_top_items_are_in_order_and_never_padding():
    scores = np.array(
        [[9, 1, 3, 3], [9, NAN, INF, -INF], [9, -INF, NAN, -INF], [0, 0, 0, 0]]
    )
    assert top_items(scores, 3).tolist() == [[2, 3, 1], [2, 0, 0], [0] * 3, [1, 2, 3]]
    seen = np.zeros((4, 4), bool)
    seen[0, 2] = seen[3, 1:] = True
    found = top_items(scores, 5, excluded=seen)
    assert found[0].tolist() == [3, 1, 0, 0, 0]
    assert found[3].tolist() == [0] * 5
    assert seen.sum() == 4  # the caller's own stays as it was


def test_the_list_agrees_with_the_rank():
    scores = np.random.default_rng(0).normal(size=(50, 20))
    scores[:, 0] = -INF
    targets = np.random.default_rng(1).integers(1, 20, 50)
    for k in (1, 5):
        among = (top_items(scores, k) == targets[:, None]).any(axis=1)
        np.testing.assert_array_equal(among, ranks(scores, targets).hits(k) == 1)


def test_coverage():
    assert coverage([[1, 2], [2, 5]], 5) == pytest.approx(3 / 5)
    assert coverage([[0, 0]], 5) == coverage(np.zeros((0, 3), int), 5) == 0
    with pytest.raises(ValueError, match="`recommended` must be integers from 0 to 5"):
        coverage([[6]], 5)
    with pytest.raises(ValueError, match="`num_items` must be a positive integer"):
        coverage([[1]], 0)


def test_popularity_bias_is_in_percentiles():
    counts = [77, 5, 1, 1, 30]  # padding, then items of percentile 5/8, 1/4, 1/4, 7/8
    bias = popularity_bias([[4, 1], [4, 0]], taken=[2, 3], counts=counts)
    assert bias.recommended == pytest.approx((7 / 8 + 5 / 8 + 7 / 8) / 3)
    assert bias.taken == pytest.approx(1 / 4)
    assert bias.difference == pytest.approx(bias.recommended - 1 / 4)


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_an_item_at_random_has_half_of_the_popularity(counts):
    everything = np.arange(1, len(counts) + 1)
    bias = popularity_bias(everything, everything, [9, *counts])
    assert bias.recommended == bias.taken == pytest.approx(1 / 2)


def test_no_item_has_no_popularity():
    bias = popularity_bias([[0]], [1], [0, 1])
    assert np.isnan(bias.recommended)
    assert bias.taken == pytest.approx(1 / 2)
    with pytest.raises(ValueError, match="`taken` must be integers from 0 to 1"):
        popularity_bias([[1]], [2], [0, 1])
