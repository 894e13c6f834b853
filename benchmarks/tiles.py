"""`python -m benchmarks tiles`: how large should a tile of the blockwise path be?

Varies the constants of `keras_attention.ops.tiling` and times the blockwise path on the
training cases of the table of targets.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from benchmarks import contenders
from benchmarks.cases import MULTI_HEAD, Case
from benchmarks.timing import take_turns, timed

# Size and height of a tile depend on each other; the others are varied alone.
TILE_ELEMENTS = (2**19, 2**20, 2**21, 2**22)
TILE_ROWS = (64, 128, 256)
ALONE = {"KEY_BLOCK": (64, 256), "MAX_SEGMENTS": (4, 16)}

BUDGET, QUICK_BUDGET, ROUNDS = 20.0, 0.1, 3

Setting = Mapping[str, int]


def settings() -> list[Setting]:
    """The constants as they are, then what is tried instead."""
    together = [
        {"TILE_ELEMENTS": elements, "TILE_ROWS": rows}
        for elements in TILE_ELEMENTS
        for rows in TILE_ROWS
    ]
    alone = [{name: value} for name, values in ALONE.items() for value in values]
    return [{}, *together, *alone]


@contextlib.contextmanager
def applied(setting: Setting) -> Iterator[None]:
    """Run a block with other constants in `tiling`."""
    from keras_attention.ops import tiling

    before = {name: getattr(tiling, name) for name in setting}
    try:
        for name, value in setting.items():
            setattr(tiling, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(tiling, name, value)


def run(cases: Sequence[Case], quick: bool) -> None:
    """Print, for every training case, the settings from fastest to slowest."""
    for case in cases:
        # The layer is the core of the same shape plus projections.
        if not case.training or case.computes == MULTI_HEAD:
            continue
        print(f"\n{case.name} {case.shape}", flush=True)
        ranked = sorted(measure(case, QUICK_BUDGET if quick else BUDGET))
        for seconds, name in ranked:
            print(f"  {1e3 * seconds:9.2f} ms  {name}", flush=True)


def measure(case: Case, budget: float) -> list[tuple[float, str]]:
    """Median seconds and name of every setting; they take turns."""
    tried = settings()
    steps = []
    for setting in tried:
        step = timed(contenders.step("blockwise", case))
        with applied(setting):
            step()  # traces: the constants are read here and only here
        steps.append(step)
    rounds = take_turns(steps, budget, fewest=ROUNDS)
    return [(median(r), _name(s)) for r, s in zip(rounds, tried, strict=True)]


def _name(setting: Setting) -> str:
    return ", ".join(f"{k}={v}" for k, v in setting.items()) or "as it is"
