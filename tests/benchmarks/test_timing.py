import pytest

from benchmarks.timing import MOST_ROUNDS, number_of_rounds, take_turns, timed


@pytest.mark.parametrize(
    ("budget", "seconds", "expected"),
    [(6.0, 0.5, 12), (6.0, 4.0, 5), (6.0, 0.001, MOST_ROUNDS), (6.0, 0.0, MOST_ROUNDS)],
)
def test_number_of_rounds(budget, seconds, expected):
    assert number_of_rounds(budget, seconds, fewest=5) == expected


def test_steps_take_turns_and_the_warm_up_does_not_count():
    order = []

    def step(name, seconds):
        def run():
            order.append(name)
            return 100.0 if order.count(name) == 1 else seconds

        return run

    rounds = take_turns([step("a", 2.0), step("b", 3.0)], budget=0.0, fewest=2)
    assert order == ["a", "b"] * 3
    assert rounds == [[2.0, 2.0], [3.0, 3.0]]


def test_timed_runs_the_step_and_gives_its_seconds():
    calls = []
    assert 0 <= timed(lambda: calls.append(1))() < 1
    assert calls == [1]
