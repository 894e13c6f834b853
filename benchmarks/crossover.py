"""`python -m benchmarks crossover`: does the rule take the faster path?

The rule is `keras_attention.ops.dispatch`. Forward and backward, our dense and our
blockwise path in turns; fastest rounds, since other work on the machine slows the
blockwise path most, which lives in the caches.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import contenders
from benchmarks.cases import ADDITIVE, CORE, NOT_SLOWER, Case
from benchmarks.timing import take_turns, timed

LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)
QUICK_LENGTHS = (32, 64)

# Their length is replaced by each of `LENGTHS`.
CASES = (
    Case("causal", CORE, (1, 0, 8, 64)),
    Case("causal", CORE, (8, 0, 8, 64)),
    Case("causal", CORE, (32, 0, 4, 32)),
    Case("no mask", CORE, (1, 0, 8, 64), causal=False),
    Case("no mask", CORE, (8, 0, 8, 64), causal=False),
    Case("additive", ADDITIVE, (2, 0, 1, 64), causal=False),
    Case("additive", ADDITIVE, (32, 0, 1, 64), causal=False),
)

# Longer cases are left out: the dense path would hold several GB.
MOST_ELEMENTS = 2**27

BUDGET, QUICK_BUDGET = 3.0, 0.1


@dataclass(frozen=True)
class Point:
    """Seconds of both paths, and the path that the rule takes."""

    dense: float
    blockwise: float
    chosen: str

    @property
    def verdict(self) -> str:
        """Nothing, or that the other path is faster by more than 5 %."""
        other = "dense" if self.chosen == "blockwise" else "blockwise"
        ratio = getattr(self, other) / getattr(self, self.chosen)
        return "" if ratio >= NOT_SLOWER else f"{other} is faster"


def run(quick: bool) -> None:
    """Print a line per case and length."""
    for case in CASES:
        batch, _, heads, size = case.shape
        print(f"\n{case.name}, B={batch}, N={heads}, H={size}")
        for length in lengths(case, QUICK_LENGTHS if quick else LENGTHS):
            point = measure(case.at_length(length), QUICK_BUDGET if quick else BUDGET)
            print(
                f"  L={length:<5} dense {1e3 * point.dense:8.2f} ms   "
                f"blockwise {1e3 * point.blockwise:8.2f} ms   "
                f"dense / blockwise {point.dense / point.blockwise:.2f}   "
                f"takes {point.chosen:<9}  {point.verdict}",
                flush=True,
            )


def lengths(case: Case, candidates: Sequence[int]) -> list[int]:
    """The lengths at which the dense path still fits memory."""
    batch, _, heads, size = case.shape
    row = batch * heads * (size if case.computes == ADDITIVE else 1)
    return [length for length in candidates if row * length**2 <= MOST_ELEMENTS]


def measure(case: Case, budget: float) -> Point:
    """Both paths of our own, taking turns in this process."""
    steps = [timed(contenders.step(path, case)) for path in ("dense", "blockwise")]
    for step in steps:
        step()  # traces
    dense, blockwise = (min(rounds) for rounds in take_turns(steps, budget))
    return Point(dense, blockwise, chosen(case))


def chosen(case: Case) -> str:
    """The path that the rule takes."""
    import keras

    from keras_attention import masks
    from keras_attention.ops import dispatch, scores
    from keras_attention.ops.problem import Problem

    x = keras.KerasTensor(case.shape, dtype=case.dtype)
    score = scores.additive if case.computes == ADDITIVE else scores.scaled_dot
    mask = masks.Causal() if case.causal else None
    return dispatch.choose(Problem(score, mask, 0, 0.0, None), x, x, x, None)
