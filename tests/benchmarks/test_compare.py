import pytest

from benchmarks import compare
from benchmarks.cases import CORE, Case, named


def test_a_process_that_ends_says_why():
    with compare.Worker("ours", Case("unheard of", CORE, (1, 2, 3, 5))) as worker:
        worker.wait_until_ready()
        assert worker.step() == 0.0
    assert worker.measurement.error == "ended with status 1. KeyError: 'unheard of'"


@pytest.mark.slow
def test_contenders_are_measured_side_by_side(monkeypatch, tmp_path):
    monkeypatch.setattr(compare, "PYTHONS", {"torch": tmp_path / "missing"})
    found = compare.measure(named("core-512-forward").at_length(16), budget=0.0)
    assert [m.contender for m in found] == ["ours", "keras", "products"]
    for measurement in found:
        assert not measurement.error
        assert len(measurement.rounds) == 5
        assert measurement.first_call > measurement.fastest > 0
        assert "tensorflow" in measurement.version
