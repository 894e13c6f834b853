from types import SimpleNamespace

import pytest

from applications.errors import UserError
from applications.pipeline import comparison
from applications.pipeline import run as runs
from tests.applications.pipeline.toy import ToyConfig


@pytest.fixture
def run(root):
    return runs.create(root, "toy", "small", ToyConfig())


def test_runs_are_found_by_name(run, root):
    runs.create(root, "toy", "small", ToyConfig())
    found = comparison.named("toy", ["small-002", "small-001"])
    assert [one.name for one in found] == ["small-002", "small-001"]
    with pytest.raises(UserError, match="at least two evaluated runs"):
        comparison.named("toy", ["small-001"])
    with pytest.raises(UserError, match="Unknown run of toy 'small-009'"):
        comparison.named("toy", ["small-001", "small-009"])


def test_the_metrics_that_count(run):
    with pytest.raises(UserError, match="small-001 is not evaluated"):
        comparison.evaluated(run)
    run.record("evaluate", {"score": 1.0}, {})
    run.record("evaluate", {"score": 2.0}, {"changed": ["data.test_limit=3"]})
    assert comparison.evaluated(run) == {"score": 1.0}


def test_the_examples_must_be_the_same(run, root):
    other = runs.create(root, "toy", "small", ToyConfig())
    comparison.require_same([run, other], [["a", "b"], ["a", "b"]], "texts")
    with pytest.raises(UserError, match=r"small-002.*other texts than small-001"):
        comparison.require_same([run, other], [["a", "b"], ["a"]], "texts")


def test_cells():
    gap = SimpleNamespace(value=1.25, low=-0.5, high=3.0)
    assert comparison.interval(gap) == "+1.2 [-0.5, +3.0]"
    assert comparison.interval(gap, 2) == "+1.25 [-0.50, +3.00]"
    gap.low = float("nan")
    assert comparison.interval(gap) == "+1.2"
    assert comparison.number(None) == comparison.number(float("nan")) == "-"
    assert comparison.number(3.14159, 2) == "3.14"
