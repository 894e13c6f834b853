"""`python -m applications.recommendation.costs [items=1000,1000000] [key=value ...]`:
what a training step costs, by size of the catalogue and by loss.

Every cell is a model of the `compare` preset in a process of its own, on random
histories of a catalogue of that size: seconds of a step, the median; and by how much
resident memory rises, at its highest, above where it stood with the model, its
optimizer and TensorFlow loaded. `full` is the cross-entropy over all items, `sampled`
that over `train.negatives` of them. A process that the memory does not suffice for is a
dash. `losses=full,sampled` chooses, `key=value` changes settings as in `train`. Linux
only.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from applications import markdown
from applications.errors import UserError, require_known
from applications.pipeline import cli, quiet
from applications.pipeline.comparison import number
from applications.pipeline.config import override
from applications.recommendation.presets import PRESETS, Loss, RecommendationConfig

PRESET = "compare"
ITEMS = (1_000, 10_000, 100_000, 1_000_000)
LOSSES = get_args(Loss)
SECONDS = 5.0  # of measuring, at least three steps

_WARM_UP = 1  # rows of the step that loads what there is to load
_ONE = "--one"  # begins the arguments of a process that measures


class Cost(NamedTuple):
    """Of a step at one size."""

    seconds: float
    megabytes: float
    parameters: int


class Asked(NamedTuple):
    """What the arguments say."""

    losses: list[str]
    items: list[int]
    settings: list[str]


def main(arguments: Sequence[str]) -> int:
    """Measure what is asked for and print the table."""
    if arguments[:1] == [_ONE]:
        return cli.on_runs("", arguments[1:], _answer)
    return cli.on_runs(str(__doc__), arguments, _print)


def parsed(arguments: Sequence[str]) -> Asked:
    """Read the arguments.

    Raises:
        UserError: A loss, a number of items or a setting is none.
    """
    chosen = {"losses": ",".join(LOSSES), "items": ",".join(map(str, ITEMS))}
    settings = []
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key in chosen:
            chosen[key] = value
        else:
            settings.append(argument)
    losses, items = (value.split(",") for value in chosen.values())
    for loss in losses:
        require_known("loss", loss, LOSSES)
    least = override(PRESETS[PRESET], settings).data.max_length + 1  # of a row
    if not all(count.isdecimal() and int(count) >= least for count in items):
        raise UserError(
            f"`items` must be integers above `data.max_length`, separated by commas. "
            f"Received: {chosen['items']}."
        )
    return Asked(losses, [int(count) for count in items], settings)


def _print(arguments: Sequence[str]) -> None:
    asked = parsed(arguments)
    found: dict[tuple[str, int], Cost | None] = {}
    for count in asked.items:
        for loss in asked.losses:
            found[loss, count] = alone(loss, count, asked.settings)
            print(f"{loss} at {count}: {found[loss, count]}", file=sys.stderr)
    print("\n".join(table(asked, found)))


def table(asked: Asked, found: dict[tuple[str, int], Cost | None]) -> list[str]:
    """The lines of the Markdown table; a dash where a process did not survive."""
    heads = ["items", "parameters"]
    heads += [f"seconds a step, {loss}" for loss in asked.losses]
    heads += [f"MB, {loss}" for loss in asked.losses]
    rows = []
    for count in asked.items:
        costs = [found[loss, count] for loss in asked.losses]
        known = [cost.parameters for cost in costs if cost]
        rows.append(
            [
                f"{count:,}",
                f"{known[0]:,}" if known else "-",
                *(number(cost and cost.seconds, 3) for cost in costs),
                *(number(cost and cost.megabytes, 0) for cost in costs),
            ]
        )
    return markdown.table(heads, rows)


def alone(loss: str, count: int, settings: Sequence[str]) -> Cost | None:
    """Measure in a process of its own; `None` where it did not come to an end."""
    command = [sys.executable, "-m", "applications.recommendation.costs", _ONE]
    process = subprocess.run(
        [*command, loss, str(count), *settings],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if process.returncode == 2:  # what it said stands on standard error
        raise UserError(f"{loss} at {count} items cannot be measured.")
    return Cost(**json.loads(process.stdout)) if process.returncode == 0 else None


def _answer(arguments: Sequence[str]) -> None:
    loss, count, *settings = arguments
    Path("/proc/self/oom_score_adj").write_text("1000")  # be the first to die
    with quiet.startup():
        cost = measure(settled(loss, settings), int(count))
    print(json.dumps(cost._asdict()))


def settled(loss: str, settings: Sequence[str]) -> RecommendationConfig:
    """The settings of one cell."""
    return override(PRESETS[PRESET], [*settings, f"train.loss={loss}"])


def measure(
    config: RecommendationConfig, num_items: int, seconds: float = SECONDS
) -> Cost:
    """Train a few steps on histories that mean nothing."""
    import numpy as np

    from applications.pipeline import memory

    model, step = _step(config, num_items)
    step(_batch(config, num_items, _WARM_UP))
    batch = _batch(config, num_items, config.data.batch_size)
    before = memory.start_of_growth()
    step(batch)
    times = _timed(lambda: step(batch), seconds)
    grown = memory.growth_since(before)
    return Cost(float(np.median(times)), grown, model.count_params())


def _timed(step: Callable[[], Any], seconds: float) -> list[float]:
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return times


def _step(config: RecommendationConfig, num_items: int) -> tuple[Any, Callable]:
    """The model, and a training step of a batch as `fit` makes it."""
    import keras

    from applications.pipeline import optimizers
    from applications.recommendation import networks

    keras.config.set_dtype_policy(config.train.precision)
    model = networks.build(config, num_items)
    model.compile(
        optimizer=optimizers.build(config.train, steps=1000),
        loss=networks.loss(config),
        jit_compile=config.train.jit_compile,
    )
    return model, lambda batch: model.train_on_batch(*batch)


def _batch(config: RecommendationConfig, num_items: int, rows: int) -> tuple[Any, Any]:
    """Rows as training makes them, `(B, W)` random items each."""
    import numpy as np
    import tensorflow as tf

    from applications.datasets.interactions import Catalogue
    from applications.recommendation.data import RecommendationData

    random = np.random.default_rng(0)
    width = config.data.max_length + (config.model.kind != "bert4rec")
    histories = [
        random.choice(num_items, width, replace=False).astype("int32") + 1
        for _ in range(rows)
    ]
    names = ("",) * (num_items + 1)
    data = RecommendationData(config, Catalogue(names, names))
    data.learned = histories
    return next(iter(data.train.epoch(tf.constant(0))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
