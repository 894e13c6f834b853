"""Rounds in which steps take turns: a busy moment of the machine hits them all."""

import time
from collections.abc import Callable, Sequence
from typing import Any

FEWEST_ROUNDS, MOST_ROUNDS = 5, 50


def timed(step: Callable[[], Any]) -> Callable[[], float]:
    """A function that runs `step` and returns the seconds it took."""
    return lambda: clocked(step)[0]


def clocked(step: Callable[[], Any]) -> tuple[float, float]:
    """Seconds that `step` took, by the clock and of all cores together."""
    start, cpu = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - start, time.process_time() - cpu


def take_turns(
    steps: Sequence[Callable[[], float]], budget: float, fewest: int = FEWEST_ROUNDS
) -> list[list[float]]:
    """Seconds of every round, one list per step, after one warm-up round.

    Args:
        steps: Each runs once and returns its seconds.
        budget: Seconds all rounds may take together.
        fewest: Rounds that are run however long they take.
    """
    warm = sum(step() for step in steps)
    rounds = [
        [step() for step in steps]
        for _ in range(number_of_rounds(budget, warm, fewest))
    ]
    return [list(seconds) for seconds in zip(*rounds, strict=True)]


def number_of_rounds(budget: float, seconds: float, fewest: int) -> int:
    """How many rounds of `seconds` fit `budget`, but at least `fewest`."""
    fitting = int(budget / seconds) if seconds else MOST_ROUNDS
    return max(fewest, min(fitting, MOST_ROUNDS))
