"""One contender of one case, alone in a process of its own.

`python -m benchmarks.worker CONTENDER CASE LENGTH` answers in lines of JSON: first
`{"version": ...}` once it is ready, then, for every line it reads, one step:
`{"seconds": ..., "cpu": ..., "growth": ...}`, where `cpu` counts the seconds of all
cores together. Growth is how far resident memory has risen, at its highest, above where
it stood before the first step, in MB. The only thing that ran before is the same step
at a tiny length, so that loading a framework's libraries is counted neither as memory
nor as the first call.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from applications.pipeline import memory
from benchmarks import contenders
from benchmarks.cases import named
from benchmarks.timing import clocked

TINY = 32


def main() -> None:
    """Be the contender that the command line names."""
    contender, case = sys.argv[1], named(sys.argv[2]).at_length(int(sys.argv[3]))
    # Frameworks print as they like: standard output is for answers only.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _be_first_to_die()

    contenders.step(contender, case.at_length(TINY))()
    step = contenders.step(contender, case)
    before = memory.start_of_growth()
    _answer(answers, version=contenders.version(contender))
    for _ in sys.stdin:
        seconds, cpu = clocked(step)
        growth = memory.growth_since(before)
        _answer(answers, seconds=seconds, cpu=cpu, growth=growth)


def _answer(stream: TextIO, **content: Any) -> None:
    print(json.dumps(content), file=stream, flush=True)


def _be_first_to_die() -> None:
    """A peer that outgrows the machine is killed before anything else."""
    Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main()
