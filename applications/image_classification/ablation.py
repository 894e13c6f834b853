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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from applications import markdown
from applications.errors import UserError
from applications.image_classification.presets import (
    PRESETS,
    ImageClassificationConfig,
)
from applications.pipeline import cli, quiet
from applications.pipeline import run as runs
from applications.pipeline.config import override

PRESET = "compare"
NAME = "image_classification"
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
_SEEDS = 3


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
    seeds, settings = _parsed(arguments)
    with quiet.startup():
        from applications.image_classification.application import ImageClassification
    application = ImageClassification()
    results = [_result(application, gate, seeds, settings) for gate in GATES]
    print("\n".join(table(results)))


def _parsed(arguments: Sequence[str]) -> tuple[range, list[str]]:
    """The seeds, and what else differs from the preset."""
    chosen = [a.partition("=")[2] for a in arguments if a.startswith("seeds=")]
    settings = [a for a in arguments if not a.startswith("seeds=")]
    count = chosen[-1] if chosen else str(_SEEDS)
    if not count.isdigit() or int(count) < 2:
        raise UserError(f"`seeds` must be an integer of 2 or more. Received: {count}.")
    return range(int(count)), settings


def _result(
    application: Any, gate: str, seeds: Iterable[int], settings: Sequence[str]
) -> Result:
    entries = [
        _measured(
            application, [*settings, f"model.attention={gate}", f"train.seed={seed}"]
        )
        for seed in seeds
    ]
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


def _measured(application: Any, settings: Sequence[str]) -> dict[str, Any]:
    """The results of a run, which is made, or brought to its end, where need be."""
    from applications.pipeline import stages

    config = override(PRESETS[PRESET], settings)
    run = _there(config)
    if run is None:
        run = runs.create(runs.default_root(), NAME, PRESET, config)
    if "evaluate" not in run.metrics():
        print(f"{run.name}: {' '.join(settings)}")
        stages.train(application, config, run)
        stages.evaluate(application, config, run)
    return run.results()


def _there(config: ImageClassificationConfig) -> runs.Run | None:
    """The newest run of just these settings."""
    there = runs.all_of(runs.default_root(), NAME)
    same = [run for run in there if run.config(type(config)) == config]
    return max(same, key=lambda run: run.name, default=None)


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
    """Mean and 95 % interval of a few values, by Student's t."""
    from keras_attention.errors import import_extra

    stats = import_extra("scipy.stats", "image-classification")
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(len(values))
    half = stats.t.ppf(0.975, len(values) - 1) * error
    return f"{mean:+.2f} [{mean - half:+.2f}, {mean + half:+.2f}]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
