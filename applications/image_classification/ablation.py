"""`python -m applications.image_classification.ablation [seeds=3] [key=value ...]`:
what each gate brings the residual CNN.

Trains and evaluates the `compare` preset once for every gate and seed, on the same
training images, and prints a Markdown table: accuracy on the whole test split, the
difference to the CNN without attention of the same seed with its 95 % interval, and the
cost beside it. The interval is Student's t over the seeds, which draw weights and order
anew; the test images are the same for all. Runs that are there already, with the same
settings, are not made again; `key=value` changes settings as in `train`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from applications import markdown
from applications.image_classification.presets import PRESETS
from applications.pipeline import cli, comparison, quiet, seeds
from applications.pipeline.run import Run

PRESET = "compare"
GATES = (
    "none",
    "squeeze_excitation",
    "efficient_channel",
    "spatial",
    "cbam",
    "bam",
    "coordinate",
    "sc_se",
    "selective_kernel",
)


@dataclass(frozen=True)
class Result:
    """What is measured of one gate, a number for each seed where there are several."""

    gate: str
    accuracy: np.ndarray
    parameters: int
    multiply_adds: int
    seconds: np.ndarray
    images_per_second: np.ndarray


def main(arguments: Sequence[str]) -> int:
    """Train what is missing and print the table."""
    return cli.on_runs(str(__doc__), arguments, _print)


def _print(arguments: Sequence[str]) -> None:
    chosen, settings = seeds.parsed(arguments)
    with quiet.startup():
        from applications.image_classification.application import ImageClassification
    found = seeds.of_each(
        ImageClassification(),
        PRESETS,
        PRESET,
        "model.attention",
        GATES,
        chosen,
        settings,
    )
    results = [_result(gate, made) for gate, made in found.items()]
    print("\n".join(table(results)))


def _result(gate: str, found: Sequence[Run]) -> Result:
    entries = [run.results() for run in found]
    trained = [entry["train"]["metrics"] for entry in entries]
    tested = [entry["evaluate"]["metrics"] for entry in entries]
    return Result(
        gate,
        np.array([one["accuracy"] for one in tested]),
        tested[0]["parameters"],
        tested[0]["multiply_adds"],
        np.array([one["seconds"] for one in trained]),
        np.array([one["images_per_second"] for one in tested]),
    )


def table(results: Sequence[Result]) -> list[str]:
    """The lines of the Markdown table; the first result is what the others add to."""
    first = results[0]
    heads = ["gate", "accuracy, %", f"difference to {first.gate}, points"]
    heads += ["parameters", "multiply-adds", "training seconds", "images per second"]
    rows = []
    for result in results:
        gained = 100 * (result.accuracy - first.accuracy)
        cells = [
            result.gate,
            f"{100 * result.accuracy.mean():.2f}",
            "-" if result is first else _interval(gained),
            f"{result.parameters:,}",
            f"{result.multiply_adds:,}",
            f"{result.seconds.mean():.0f}",
            f"{result.images_per_second.mean():,.0f}",
        ]
        rows.append(cells)
    return markdown.table(heads, rows)


def _interval(values: np.ndarray) -> str:
    return comparison.interval(seeds.interval(values, "image-classification"), 2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
