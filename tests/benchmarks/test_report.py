import json

import pytest

from benchmarks import report
from benchmarks.cases import CORE, Case, Target
from benchmarks.compare import Measurement

OURS = Measurement(
    "a", "ours", "keras 3", 1.5, [0.2, 0.1, 0.3], 50.0, cpu_rounds=[0.4, 0.2, 0.5]
)
KERAS = Measurement(
    "a", "keras", "keras 3", 9.0, [0.6, 0.2, 0.5], 400.0, cpu_rounds=[1.2, 0.4, 0.8]
)
DEAD = Measurement("a", "keras", error="ended with status -9.")


def verdict(target, *measurements):
    case = Case("a", CORE, (1, 2, 3, 5), targets=(target,))
    (found,) = report.verdicts(case, measurements)
    return found


@pytest.mark.parametrize(
    ("target", "reached", "met"),
    [
        (Target(1, "seconds", 2.5, "keras"), 2.5, True),
        (Target(1, "seconds", 2.6, "keras"), 2.5, False),
        (Target(1, "growth", 10, "keras"), 8.0, False),
        (Target(1, "growth", 60), 50.0, True),
        (Target(1, "growth", 40), 50.0, False),
        (Target(1, "first_call", 2), 1.5, True),
    ],
)
def test_verdict(target, reached, met):
    found = verdict(target, OURS, KERAS)
    assert found.reached == pytest.approx(reached)
    assert found.met is met


@pytest.mark.parametrize(
    ("limit", "ratio", "word"),
    [(1.4, 1.5, "met"), (1.4, 1.3, "missed"), (1.4, 0.9, "slower than Keras")],
)
def test_slower_than_keras_is_said(limit, ratio, word):
    target = Target(1, "seconds", limit, "keras")
    assert report.Verdict("a", target, ratio).word == word


def test_times_also_compare_the_fastest_rounds():
    assert verdict(Target(1, "seconds", 1, "keras"), OURS, KERAS).fastest == 2.0
    assert verdict(Target(1, "growth", 1, "keras"), OURS, KERAS).fastest is None


@pytest.mark.parametrize("measurements", [(OURS,), (KERAS,), (OURS, DEAD)])
def test_no_verdict_without_numbers(measurements):
    found = verdict(Target(1, "seconds", 1, "keras"), *measurements)
    assert found.reached is None
    assert found.met is None


def test_markdown_shows_ratios_numbers_and_failures():
    judged = [verdict(Target(4, "seconds", 1.35, "keras"), OURS, KERAS)]
    lines = report.markdown(judged, [OURS, DEAD]).splitlines()
    assert "| 4 | a | time, keras / ours | at least 1.35 | 2.50 (2.00) | met |" in lines
    assert "| a | ours | 200.0 ms | 100.0 ms | 400.0 ms | 50 MB | 1.50 s |  |" in lines
    assert "| a | keras | ended with status -9. |  |  |  |  |  |" in lines


def test_written_json_has_every_round(tmp_path):
    report.write(tmp_path / "new", [], [OURS, KERAS])
    content = json.loads((tmp_path / "new" / "results.json").read_text())
    assert [m["rounds"] for m in content["measurements"]] == [OURS.rounds, KERAS.rounds]
    assert "| a | ours |" in (tmp_path / "new" / "table.md").read_text()
