"""One contender of one case, alone in a process of its own.

`python -m benchmarks.worker CONTENDER CASE LENGTH` answers in lines of JSON: first
`{"version": ...}` once it is ready, then, for every line it reads, one step:
`{"seconds": ..., "cpu": ..., "growth": ...}`, where `cpu` counts the seconds of all
cores together. Growth is how far resident memory has risen, at its highest, above where
it stood before the first step, in MB. The only thing that ran before is the same step
at a tiny length, so that loading a framework's libraries is counted neither as memory
nor as the first call.
"""

import ctypes
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

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
    before = _start_of_growth()
    _answer(answers, version=contenders.version(contender))
    for _ in sys.stdin:
        seconds, cpu = clocked(step)
        growth = _resident("VmHWM") - before
        _answer(answers, seconds=seconds, cpu=cpu, growth=growth)


def _answer(stream: TextIO, **content: Any) -> None:
    print(json.dumps(content), file=stream, flush=True)


def _be_first_to_die() -> None:
    """A peer that outgrows the machine is killed before anything else."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def _start_of_growth() -> float:
    """Resident memory now, in MB, after giving back what is free; its peak restarts."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _resident("VmRSS")


def _resident(field: str) -> float:
    """`VmRSS` (now) or `VmHWM` (the peak) of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError(f"/proc/self/status has no {field}.")


if __name__ == "__main__":
    main()
