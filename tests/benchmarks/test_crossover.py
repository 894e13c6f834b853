import pytest

from benchmarks import crossover
from benchmarks.cases import ADDITIVE, CORE, Case
from benchmarks.crossover import Point


def test_scores_count_pairs_times_the_head_size_for_additive():
    assert crossover.scores_of_a_head(Case("a", CORE, (2, 3, 5, 7))) == 9
    assert crossover.scores_of_a_head(Case("a", ADDITIVE, (2, 3, 1, 7))) == 63


def test_lengths_stop_where_dense_would_not_fit():
    case = Case("a", CORE, (8, 0, 16, 64))
    assert crossover.lengths(case, (512, 1024, 2048)) == [512, 1024]


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ((0.5, 0.9, 1.1, 1.4), 3),
        ((0.5, 1.1, 0.9, 1.4), 4),
        ((1.1, 1.2, 1.3, 1.4), 1),
        ((0.5, 0.6, 1.7, 0.8), None),
    ],
)
def test_first_win(ratios, expected):
    points = [Point(n, dense=x, blockwise=1.0) for n, x in enumerate(ratios, start=1)]
    assert crossover.first_win(points) == expected


def test_both_paths_are_timed():
    point = crossover.measure(Case("a", CORE, (1, 16, 2, 4)), budget=0.0)
    assert point.scores == 256
    assert min(point.dense, point.blockwise) > 0
