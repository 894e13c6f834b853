"""`python -m benchmarks [MODE]`: see the README there."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import compare, crossover, lengths, pipeline, report, tiles
from benchmarks.cases import CASES, ROWS, Case, with_rows

RESULTS = Path(__file__).parent / "results"
QUICK_LENGTH = 128
BUDGET, QUICK_BUDGET = 5.0, 0.2  # seconds for the rounds of one case


def main(argv: Sequence[str] | None = None) -> int:
    """Run one mode and return the exit code."""
    arguments = _parser().parse_args(argv)
    cases = with_rows(arguments.rows) if arguments.rows else list(CASES)
    if arguments.quick:
        cases = [case.at_length(min(case.length, QUICK_LENGTH)) for case in cases]
    if arguments.mode == "compare":
        _compare(cases, arguments)
    elif arguments.mode in ("lengths", "pipeline"):
        folder = None if arguments.quick else arguments.output or RESULTS
        {"lengths": lengths, "pipeline": pipeline}[arguments.mode].run(
            folder, arguments.quick
        )
    else:
        _alone(arguments.mode, cases, arguments.quick)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "mode",
        nargs="?",
        choices=("compare", "lengths", "crossover", "tiles", "pipeline"),
        default="compare",
        help="compare with peers (default), mechanisms over lengths, dense with "
        "blockwise, sizes of tiles, or translation's input",
    )
    parser.add_argument(
        "--rows",
        nargs="+",
        type=int,
        choices=ROWS,
        metavar="ROW",
        help=f"only cases for these rows of the targets, of {ROWS} (compare, tiles)",
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--quick",
        action="store_true",
        help=f"lengths up to {QUICK_LENGTH}: whether it runs, not how fast; "
        "writes nothing",
    )
    chosen.add_argument(
        "--output",
        type=Path,
        help="folder for results.json and table.md (compare); by default "
        "benchmarks/results after a whole run, none after a part of one",
    )
    return parser


def _compare(cases: Sequence[Case], arguments: argparse.Namespace) -> None:
    judged, measurements = [], []
    for case in cases:
        found = compare.measure(case, QUICK_BUDGET if arguments.quick else BUDGET)
        for measurement in found:
            print("  ".join(report.measurement_row(measurement)), flush=True)
        judged += report.verdicts(case, found)
        measurements += found
    print(f"\n{report.markdown(judged, measurements)}")
    is_whole = not (arguments.quick or arguments.rows)
    folder = arguments.output or (RESULTS if is_whole else None)
    if folder is not None:
        report.write(folder, judged, measurements)
        print(f"\nWritten to {folder}.")


def _alone(mode: str, cases: Sequence[Case], quick: bool) -> None:
    """Our paths among themselves, in this process."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    # TensorFlow warns of retracing where many functions are made, as is meant here.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    if mode == "crossover":
        crossover.run(quick)
    else:
        tiles.run(cases, quick)


if __name__ == "__main__":
    sys.exit(main())
