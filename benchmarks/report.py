"""From measurements to ratios, verdicts, JSON and Markdown."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from benchmarks.cases import NOT_SLOWER, Case, Target
from benchmarks.compare import Measurement

MEASURED = (
    *("case", "contender", "time", "fastest", "CPU time", "memory growth"),
    *("first call", "tokens per CPU second"),
)
UNITS = {"seconds": "s", "cpu": "s", "growth": "MB", "first_call": "s"}
NAMES = {
    "seconds": "time",
    "cpu": "CPU time",
    "growth": "memory growth",
    "first_call": "first call",
}


@dataclass(frozen=True)
class Verdict:
    """A target beside what was measured.

    Attributes:
        case: Name of the case.
        target: What was aimed at.
        reached: The ratio or quantity, `None` if a contender gave no numbers.
        fastest: For a ratio of times, the ratio of the fastest rounds.
    """

    case: str
    target: Target
    reached: float | None
    fastest: float | None = None

    @property
    def met(self) -> bool | None:
        if self.reached is None:
            return None
        if self.target.peer:
            return self.reached >= self.target.limit
        return self.reached <= self.target.limit

    @property
    def word(self) -> str:
        """`met`, `missed`, `slower than Keras`, or nothing without numbers."""
        if self.reached is None:
            return ""
        in_time = (self.target.peer, self.target.quantity) == ("keras", "seconds")
        if in_time and self.reached < NOT_SLOWER:
            return "slower than Keras"
        return "met" if self.met else "missed"


def verdicts(case: Case, measurements: Sequence[Measurement]) -> list[Verdict]:
    """Every target of a case beside what its contenders needed."""
    found = {m.contender: m for m in measurements if not m.error}
    return [_verdict(case.name, target, found) for target in case.targets]


def _verdict(case: str, target: Target, found: dict[str, Measurement]) -> Verdict:
    ours, peer = found.get("ours"), found.get(target.peer or "ours")
    if ours is None or peer is None:
        return Verdict(case, target, None)
    quantity = getattr(ours, target.quantity)
    if target.peer is None:
        return Verdict(case, target, quantity)
    # Growth below a page of memory is no growth: nothing is divided by zero.
    ratio = getattr(peer, target.quantity) / max(quantity, 1e-3)
    is_time = target.quantity == "seconds"
    return Verdict(
        case, target, ratio, peer.fastest / ours.fastest if is_time else None
    )


# ------------------------------------------------------------------------ Markdown


def markdown(judged: Sequence[Verdict], measurements: Sequence[Measurement]) -> str:
    """Both tables: ratios against targets, and what each contender needed."""
    return "\n\n".join(
        [
            f"Measured on {date.today()}: {machine()}. "
            + "; ".join(sorted({m.version for m in measurements if m.version}))
            + ".",
            "Times are medians of rounds in which the contenders take turns. A ratio "
            "is the peer's number divided by ours (above 1: ours is better); in "
            "brackets, that of the fastest rounds.",
            _table(
                ("row", "case", "what", "target", "reached", ""),
                [_verdict_row(verdict) for verdict in judged],
            ),
            _table(
                MEASURED,
                [measurement_row(m) for m in measurements],
            ),
        ]
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _verdict_row(verdict: Verdict) -> tuple[str, ...]:
    target = verdict.target
    what, relation, unit = NAMES[target.quantity], "at most", UNITS[target.quantity]
    if target.peer:
        what, relation, unit = f"{what}, {target.peer} / ours", "at least", ""
    reached = "not measured"
    if verdict.reached is not None:
        reached = f"{_number(verdict.reached)} {unit}".strip()
    if verdict.fastest is not None:
        reached += f" ({_number(verdict.fastest)})"
    return (
        str(target.row or "any"),
        verdict.case,
        what,
        f"{relation} {target.limit:g} {unit}".strip(),
        reached,
        verdict.word,
    )


def measurement_row(measurement: Measurement) -> tuple[str, ...]:
    """Cells of one contender, as `MEASURED` names them."""
    m = measurement
    if m.error:
        return m.case, m.contender, m.error.replace("|", "/"), "", "", "", "", ""
    times = (f"{1e3 * seconds:.1f} ms" for seconds in (m.seconds, m.fastest, m.cpu))
    return (
        m.case,
        m.contender,
        *times,
        f"{m.growth:.0f} MB",
        f"{m.first_call:.2f} s",
        f"{m.tokens / m.cpu:,.0f}" if m.tokens else "",
    )


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


# ---------------------------------------------------------------------------- JSON


def write(
    folder: Path, judged: Sequence[Verdict], measurements: Sequence[Measurement]
) -> None:
    """`results.json` with every round, `table.md` to read."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "date": str(date.today()),
        "machine": machine(),
        "measurements": [asdict(m) for m in measurements],
    }
    (folder / "results.json").write_text(json.dumps(content, indent=2) + "\n")
    (folder / "table.md").write_text(markdown(judged, measurements) + "\n")


def machine() -> str:
    """Processor and number of cores in use."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = (x.partition(":")[2].strip() for x in lines if x.startswith("model name"))
    return f"{next(models, platform.machine())}, {len(os.sched_getaffinity(0))} cores"
