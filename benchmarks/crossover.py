"""`python -m benchmarks crossover`: from which length is blockwise faster than dense?

The answer is `BLOCKWISE_FROM` of `keras_attention.ops.attention`: scores of one batch
row and head (times the head size where a score looks at pairs). Forward and backward.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks import contenders
from benchmarks.cases import ADDITIVE, CORE, Case
from benchmarks.timing import take_turns, timed

LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)
QUICK_LENGTHS = (32, 64)

# Their length is replaced by each of `LENGTHS`.
CASES = (
    Case("causal", CORE, (1, 0, 8, 64)),
    Case("causal", CORE, (8, 0, 8, 64)),
    Case("causal", CORE, (32, 0, 4, 32)),
    Case("no mask", CORE, (8, 0, 8, 64), causal=False),
    Case("additive", ADDITIVE, (2, 0, 1, 64), causal=False),
    Case("additive", ADDITIVE, (32, 0, 1, 64), causal=False),
)

# Longer cases are left out: the dense path would hold several GB.
MOST_SCORES = 2**27

BUDGET, QUICK_BUDGET = 3.0, 0.1


@dataclass(frozen=True)
class Point:
    """Seconds of both paths where one batch row and head has `scores` scores."""

    scores: int
    dense: float
    blockwise: float


def run(quick: bool) -> None:
    """Print a line per length and, for every case, where blockwise starts to win."""
    for case in CASES:
        batch, _, heads, size = case.shape
        print(f"\n{case.name}, B={batch}, N={heads}, H={size}")
        points = []
        for length in lengths(case, QUICK_LENGTHS if quick else LENGTHS):
            point = measure(case.at_length(length), QUICK_BUDGET if quick else BUDGET)
            points.append(point)
            print(
                f"  L={length:<5} {point.scores:>10} scores   "
                f"dense {1e3 * point.dense:8.2f} ms   "
                f"blockwise {1e3 * point.blockwise:8.2f} ms   "
                f"dense / blockwise {point.dense / point.blockwise:.2f}",
                flush=True,
            )
        start = first_win(points)
        where = "nowhere here" if start is None else f"from {start} scores on"
        print(f"  blockwise wins {where}", flush=True)

    from keras_attention.ops import attention

    print(f"\nBLOCKWISE_FROM is {attention.BLOCKWISE_FROM}.")


def lengths(case: Case, candidates: Sequence[int]) -> list[int]:
    """The lengths at which the dense path still fits memory."""
    batch, _, heads, _ = case.shape
    return [
        length
        for length in candidates
        if batch * heads * scores_of_a_head(case.at_length(length)) <= MOST_SCORES
    ]


def scores_of_a_head(case: Case) -> int:
    """What `BLOCKWISE_FROM` counts."""
    per_score = case.shape[-1] if case.computes == ADDITIVE else 1
    return math.prod((case.length, case.length, per_score))


def measure(case: Case, budget: float) -> Point:
    """Both paths of our own, taking turns in this process."""
    steps = [timed(contenders.step(path, case)) for path in ("dense", "blockwise")]
    for step in steps:
        step()  # traces
    dense, blockwise = (median(rounds) for rounds in take_turns(steps, budget))
    return Point(scores_of_a_head(case), dense, blockwise)


def first_win(points: Sequence[Point]) -> int | None:
    """Scores from which blockwise is faster at every longer length measured too."""
    start = None
    for point in reversed(points):
        if point.blockwise > point.dense:
            break
        start = point.scores
    return start
