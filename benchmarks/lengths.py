"""`python -m benchmarks lengths`: what every mechanism costs as the input grows.

Forward and backward pass of whole layers at batch 1, 4 heads of 64, beside Keras's and
PyTorch's multi-head attention. Every contender has a process of its own; they take
turns. Writes `results/lengths.json` and `results/lengths.md`.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path

from benchmarks import compare, mechanisms, report
from benchmarks.cases import BY_LENGTH
from benchmarks.compare import Measurement

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
QUICK_LENGTHS = (64, 128)
BUDGET, QUICK_BUDGET = 20.0, 0.2

Found = dict[int, list[Measurement]]


def run(folder: Path | None, quick: bool) -> None:
    """Measure every length, print the tables and write them into `folder`."""
    found: Found = {}
    for length in QUICK_LENGTHS if quick else LENGTHS:
        case = BY_LENGTH.at_length(length)
        names = [name for name in mechanisms.names() if mechanisms.fits(name, case)]
        found[length] = compare.measure(case, QUICK_BUDGET if quick else BUDGET, names)
        for m in found[length]:
            cells = report.measurement_row(m)[1:]
            print(f"L={length}", "  ".join(cells), sep="  ", flush=True)
    print(f"\n{markdown(found)}")
    if folder is not None:
        write(folder, found)
        print(f"\nWritten to {folder}.")


def markdown(found: Found) -> str:
    """Milliseconds, memory growth and how both grow, mechanism by length."""
    versions = {m.version for row in found.values() for m in row if m.version}
    return "\n\n".join(
        [
            f"Measured on {date.today()}: {report.machine()}. "
            f"{'; '.join(sorted(versions))}. Forward and backward pass of a layer, "
            "batch 1, 4 heads of 64, causal where that exists.",
            "Milliseconds, median of the rounds:",
            _table(found, lambda m: f"{1e3 * m.seconds:.0f}"),
            "Growth of resident memory, MB:",
            _table(found, lambda m: f"{m.growth:.0f}"),
        ]
    )


def _table(found: Found, cell: Callable[[Measurement], str]) -> str:
    lengths = list(found)
    names = dict.fromkeys(m.contender for row in found.values() for m in row)
    by_name = {(length, m.contender): m for length, row in found.items() for m in row}
    lines = [["mechanism", *map(str, lengths)], ["---"] * (len(lengths) + 1)]
    for name in names:
        cells = (by_name.get((length, name)) for length in lengths)
        lines.append([name, *("-" if m is None or m.error else cell(m) for m in cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(folder: Path, found: Found) -> None:
    """`lengths.json` with every round, `lengths.md` to read."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "date": str(date.today()),
        "machine": report.machine(),
        "measurements": {
            str(length): [asdict(m) for m in row] for length, row in found.items()
        },
    }
    (folder / "lengths.json").write_text(json.dumps(content, indent=2) + "\n")
    (folder / "lengths.md").write_text(markdown(found) + "\n")
