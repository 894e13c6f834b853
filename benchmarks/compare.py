"""Run the contenders of a case side by side: every round runs each of them once."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.cases import Case
from benchmarks.contenders import ELSEWHERE
from benchmarks.timing import take_turns

ROOT = Path(__file__).parents[1]
PYTHONS = {name: ROOT / f".venv-{name}" / "bin" / "python" for name in ELSEWHERE}


@dataclass
class Measurement:
    """What one contender of one case needed.

    Attributes:
        case: Name of the case.
        contender: Its name.
        version: Framework and version.
        first_call: Seconds of the first step, tracing included.
        rounds: Seconds of each round after a warm-up step.
        growth: Peak growth of resident memory over all steps, in MB.
        error: Why there are no numbers, or empty.
        cpu_rounds: Seconds of all cores together, of the same rounds.
        tokens: That a step writes, if it decodes.
    """

    case: str
    contender: str
    version: str = ""
    first_call: float = 0.0
    rounds: list[float] = field(default_factory=list)
    growth: float = 0.0
    error: str = ""
    cpu_rounds: list[float] = field(default_factory=list)
    tokens: int = 0

    @property
    def seconds(self) -> float:
        """Median of the rounds."""
        return median(self.rounds)

    @property
    def cpu(self) -> float:
        """Median of the seconds of all cores together."""
        return median(self.cpu_rounds)

    @property
    def fastest(self) -> float:
        return min(self.rounds)


class Worker:
    """A contender of a case in its own process (`benchmarks.worker`).

    A context manager: the process ends with the block.
    """

    def __init__(self, contender: str, case: Case):
        self.measurement = Measurement(case.name, contender, tokens=case.tokens)
        python = PYTHONS.get(contender, Path(sys.executable))
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (see __exit__)
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", contender, case.name, str(case.length)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            cwd=ROOT,
            env=_environment(),
        )

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        self.errors.close()

    def wait_until_ready(self) -> None:
        self.measurement.version = self._answer().get("version", "")

    def step(self) -> float:
        """Run one step and return its seconds; 0 if the process is gone."""
        if self.measurement.error:
            return 0.0
        with contextlib.suppress(BrokenPipeError):
            print("step", file=self.process.stdin, flush=True)
        answer = self._answer()
        self.measurement.growth = answer.get("growth", 0.0)
        self.measurement.cpu_rounds.append(answer.get("cpu", 0.0))
        return answer.get("seconds", 0.0)

    def _answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        status = self.process.wait()
        self.errors.seek(0)
        last = (self.errors.read().strip().splitlines() or [""])[-1]
        self.measurement.error = f"ended with status {status}. {last}".strip()
        return {}


def _environment() -> dict[str, str]:
    """On the CPU, with as many threads as this process may use cores."""
    return {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
        "KERAS_BACKEND": "tensorflow",
        "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def measure(
    case: Case, budget: float, contenders: Sequence[str] | None = None
) -> list[Measurement]:
    """First call, warm-up, then rounds in which the contenders take turns.

    Args:
        case: What to compute. PyTorch and JAX take part where they are installed.
        budget: Seconds the rounds may take together.
        contenders: Who takes part; by default ours and the peers of the targets.
    """
    names = case.contenders if contenders is None else contenders
    names = [name for name in names if name not in PYTHONS or PYTHONS[name].exists()]
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(Worker(name, case)) for name in names]
        for worker in workers:
            worker.wait_until_ready()
        for worker in workers:
            worker.measurement.first_call = worker.step()
        rounds = take_turns([worker.step for worker in workers], budget)
        for worker, seconds in zip(workers, rounds, strict=True):
            measured = worker.measurement
            measured.rounds = [] if measured.error else seconds
            steps = len(measured.cpu_rounds)
            measured.cpu_rounds = measured.cpu_rounds[steps - len(measured.rounds) :]
        return [worker.measurement for worker in workers]
