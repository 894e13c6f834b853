"""`python -m applications.kernel_regression.compare [seeds=10] [key=value ...]`:
kernels of fixed and of learned bandwidth and learned attention, on the same points.

Beside them stand what needs no training: the mean, and the kernel whose bandwidth
leave-one-out over the known points chooses (cross-validated).

Trains and evaluates the `small` preset once for every kind and seed and prints a
Markdown table of the mean squared error on points that were held out. A seed draws the
points, or which are held out, so the kinds are compared seed by seed: 95 % intervals of
the mean, and of the mean of the differences, by Student's t. Runs that are there
already, with the same settings, are not made again; `key=value` changes settings as in
`train`, such as `data.name=nile`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from applications import markdown
from applications.kernel_regression.presets import PRESETS
from applications.pipeline import cli, quiet, seeds
from applications.pipeline.run import Run
from applications.pipeline.seeds import Interval

PRESET = "small"
SEEDS = 10
KINDS = ("fixed", "learned", "attention")
EXTRA = "kernel-regression"  # brings scipy


@dataclass(frozen=True)
class Result:
    """What is measured of one kind.

    Attributes:
        kind: Its name.
        evaluated: Test metrics of each seed.
        trained: What training left, of each seed; nothing for a baseline.
    """

    kind: str
    evaluated: list[dict[str, Any]]
    trained: list[dict[str, Any]]

    @property
    def errors(self) -> np.ndarray:
        """Mean squared error of each seed."""
        return np.array([found["mse"] for found in self.evaluated])


def main(arguments: Sequence[str]) -> int:
    """Train what is missing and print the table."""
    return cli.on_runs(str(__doc__), arguments, _print)


def _print(arguments: Sequence[str]) -> None:
    chosen, settings = seeds.parsed(arguments, SEEDS)
    with quiet.startup():
        from applications.kernel_regression.application import KernelRegression
    found = seeds.of_each(
        KernelRegression(), PRESETS, PRESET, "model.kind", KINDS, chosen, settings
    )
    results = [result(kind, made) for kind, made in found.items()]
    print("\n".join(table(results)))


def result(kind: str, found: Sequence[Run]) -> Result:
    """Read what the runs of a kind left."""
    entries = [run.results() for run in found]
    evaluated, trained = (
        [entry[stage]["metrics"] for entry in entries]
        for stage in ("evaluate", "train")
    )
    return Result(kind, evaluated, trained)


def table(results: Sequence[Result]) -> list[str]:
    """The lines of the Markdown table: the kinds in order, baselines between them."""
    fixed, learned, *more = results
    mean = _baseline("mean of y", "mean", fixed)
    chosen = _baseline("cross-validated", "cross_validated_kernel", fixed)
    others = fixed, chosen, learned
    heads = ["model", "test MSE", *(f"difference to {one.kind}" for one in others)]
    heads += ["bandwidth", "parameters", "training seconds"]
    rows = [_row(one, others) for one in (mean, *others, *more)]
    return markdown.table(heads, rows)


def _baseline(kind: str, key: str, beside: Result) -> Result:
    found = [of_seed["baselines"][key] for of_seed in beside.evaluated]
    return Result(kind, found, [])


def _row(one: Result, others: Sequence[Result]) -> list[str]:
    bandwidths = [found.get("bandwidth", np.nan) for found in one.evaluated]
    there = not np.isnan(bandwidths).any()
    seconds = [found["seconds"] for found in one.trained]
    return [
        one.kind,
        _interval(one.errors),
        *(
            "-" if one is other else _difference(one.errors, other.errors)
            for other in others
        ),
        f"{np.mean(bandwidths):.3g}" if there else "-",
        f"{one.evaluated[0]['parameters']:,}" if seconds else "-",
        f"{np.mean(seconds):.1f}" if seconds else "-",
    ]


def _interval(values: np.ndarray) -> str:
    return _said(seeds.interval(values, EXTRA), "")


def _difference(values: np.ndarray, others: np.ndarray) -> str:
    """Seed by seed."""
    return _said(seeds.interval(values - others, EXTRA), "+")


def _said(found: Interval, sign: str) -> str:
    """With as many digits as three of the value need."""
    size = max(abs(float(x)) for x in found)
    digits = max(0, 2 - int(np.floor(np.log10(size)))) if size > 0 else 0
    value, low, high = (f"{x:{sign}.{digits}f}" for x in found)
    return f"{value} [{low}, {high}]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
