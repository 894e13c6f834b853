from dataclasses import replace

import pytest

from benchmarks import cases
from benchmarks.cases import CASES, CORE, NOT_SLOWER, Case, Target


def test_names_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)


def test_contenders_are_ours_and_each_peer_once():
    targets = (
        Target(1, "seconds", 1, "torch"),
        Target(2, "growth", 1, "keras"),
        Target(3, "first_call", 1),
        Target(4, "seconds", 1, "torch"),
    )
    case = Case("a", CORE, (2, 3, 5, 7), targets=targets)
    assert case.contenders == ["ours", "torch", "keras"]
    assert replace(case, bounded=True).contenders[-1] == "products"


def test_another_length_changes_nothing_else():
    case = Case("a", CORE, (2, 3, 5, 7), dtype="bfloat16")
    assert case.at_length(11) == Case("a", CORE, (2, 11, 5, 7), dtype="bfloat16")


def test_named():
    assert cases.named("core-8192-training").shape == (1, 8192, 8, 64)


def test_rows_pick_the_cases_that_stand_for_them():
    assert [case.name for case in cases.with_rows([7, 8])] == [
        "core-8192-training",
        "core-16384-training",
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_case_may_be_slower_than_keras(case):
    limits = [
        target.limit
        for target in case.targets
        if (target.peer, target.quantity) == ("keras", "seconds")
    ]
    assert limits or "keras" not in case.contenders
    assert all(limit >= NOT_SLOWER for limit in limits)
