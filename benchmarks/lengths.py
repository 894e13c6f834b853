"""`python -m benchmarks lengths`: what every mechanism costs as the input grows.

Forward and backward pass at batch 1, 4 heads of 64: of whole layers, beside the
multi-head attention of Keras, KerasHub and PyTorch, and of the op alone, beside those
of Keras, PyTorch and JAX. Every contender has a process of its own; they take turns.
Writes `results/lengths.json` and `results/lengths.md`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path

from benchmarks import compare, mechanisms, report
from benchmarks.cases import BY_LENGTH, OPS_BY_LENGTH, Case
from benchmarks.compare import Measurement

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
QUICK_LENGTHS = (64, 128)
BUDGET, QUICK_BUDGET = 20.0, 0.2

Found = dict[int, list[Measurement]]


def run(folder: Path | None, quick: bool) -> None:
    """Measure every length, print the tables and write them into `folder`."""
    layers = _measured(BY_LENGTH, mechanisms.names(), quick)
    ops = _measured(OPS_BY_LENGTH, mechanisms.OPS, quick)
    print(f"\n{markdown(layers, ops)}")
    if folder is not None:
        write(folder, layers, ops)
        print(f"\nWritten to {folder}.")


def _measured(case: Case, contenders: Sequence[str], quick: bool) -> Found:
    found: Found = {}
    for length in QUICK_LENGTHS if quick else LENGTHS:
        case = case.at_length(length)
        names = [name for name in contenders if mechanisms.fits(name, case)]
        found[length] = compare.measure(case, QUICK_BUDGET if quick else BUDGET, names)
        for m in found[length]:
            cells = report.measurement_row(m)
            print(f"L={length}", "  ".join(cells), sep="  ", flush=True)
    return found


def markdown(layers: Found, ops: Found) -> str:
    """Milliseconds and memory growth, mechanism by length."""
    rows = [*layers.values(), *ops.values()]
    versions = {m.version for row in rows for m in row if m.version}
    return "\n\n".join(
        [
            f"Measured on {date.today()}: {report.machine()}. "
            f"{'; '.join(sorted(versions))}. Forward and backward pass, "
            "batch 1, 4 heads of 64, causal where that exists.",
            "Layers with their projections, milliseconds, median of the rounds:",
            _table(layers, lambda m: f"{1e3 * m.seconds:.0f}"),
            "Layers, growth of resident memory, MB:",
            _table(layers, lambda m: f"{m.growth:.0f}"),
            "The op alone (`ops.attend`, `keras.ops.dot_product_attention`, "
            "`scaled_dot_product_attention`, `jax.nn.dot_product_attention`), "
            "milliseconds and MB:",
            _table(ops, lambda m: f"{1e3 * m.seconds:.0f}"),
            _table(ops, lambda m: f"{m.growth:.0f}"),
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


def write(folder: Path, layers: Found, ops: Found) -> None:
    """`lengths.json` with every round, `lengths.md` to read."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "date": str(date.today()),
        "machine": report.machine(),
        **{
            name: {
                str(length): [asdict(m) for m in row] for length, row in found.items()
            }
            for name, found in (("layers", layers), ("ops", ops))
        },
    }
    (folder / "lengths.json").write_text(json.dumps(content, indent=2) + "\n")
    (folder / "lengths.md").write_text(markdown(layers, ops) + "\n")
