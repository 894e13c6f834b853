from benchmarks import crossover
from benchmarks.cases import ADDITIVE, CORE, Case
from benchmarks.crossover import Point


def test_lengths_stop_where_dense_would_not_fit():
    case = Case("a", CORE, (8, 0, 16, 64))
    assert crossover.lengths(case, (512, 1024, 2048)) == [512, 1024]
    case = Case("a", ADDITIVE, (2, 0, 1, 64))
    assert crossover.lengths(case, (512, 1024, 2048)) == [512, 1024]


def test_a_wrong_choice_is_told():
    assert Point(1.0, 1.04, "blockwise").verdict == ""
    assert Point(1.0, 1.06, "blockwise").verdict == "dense is faster"
    assert Point(1.0, 0.9, "dense").verdict == "blockwise is faster"
    assert Point(1.0, 2.0, "dense").verdict == ""


def test_both_paths_are_timed_and_one_is_chosen():
    point = crossover.measure(Case("a", CORE, (1, 16, 2, 4)), budget=0.0)
    assert min(point.dense, point.blockwise) > 0
    assert point.chosen == "dense"
    assert crossover.chosen(Case("a", CORE, (1, 2048, 2, 4))) == "blockwise"
    assert crossover.chosen(Case("a", ADDITIVE, (2, 1024, 1, 64))) == "blockwise"
