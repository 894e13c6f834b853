"""What a training step costs: seconds and memory, each cell in a process of its own.

What commands share that print a table of costs by what they vary. Linux only.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from applications.errors import UserError
from applications.pipeline import cli
from applications.pipeline.train_config import TrainConfig

SECONDS = 5.0  # of measuring, at least three steps

_ONE = "--one"  # begins the arguments of a process that measures


class StepCost(NamedTuple):
    """Of one training step.

    Attributes:
        seconds: The median.
        megabytes: By how much resident memory rises, at its highest, above where it
            stood with the model, its optimizer and TensorFlow loaded.
    """

    seconds: float
    megabytes: float


def main(
    usage: str,
    arguments: Sequence[str],
    show: Callable[[Sequence[str]], None],
    measure: Callable[..., Any],
) -> int:
    """Show the table, or measure one cell for it.

    Args:
        usage: What `--help` prints.
        arguments: Of the command.
        show: Prints the table.
        measure: From the arguments of a cell to its cost, a named tuple.
    """
    if arguments[:1] == [_ONE]:
        return cli.on_runs(
            "", arguments[1:], lambda cell: print(json.dumps(measure(*cell)._asdict()))
        )
    return cli.on_runs(usage, arguments, show)


def parsed(
    arguments: Sequence[str], lists: Mapping[str, Sequence[Any]]
) -> tuple[list[list[str]], list[str]]:
    """The lists that arguments give, and the settings they change.

    Args:
        arguments: `name=a,b` of a list, `key=value` of a setting.
        lists: By name, with what they hold unless an argument says otherwise.
    """
    chosen = {name: ",".join(map(str, values)) for name, values in lists.items()}
    settings = []
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key in chosen:
            chosen[key] = value
        else:
            settings.append(argument)
    return [value.split(",") for value in chosen.values()], settings


def alone(module: str, what: str, cell: Sequence[str]) -> dict[str, Any] | None:
    """The cost of a cell, measured by a process of its own.

    Args:
        module: The command, whose `main` is the one above.
        what: The cell, for errors.
        cell: Its arguments.

    Returns:
        The fields of the named tuple; `None` where the process did not come to an end.

    Raises:
        UserError: The cell cannot be measured; why, the process has said.
    """
    process = subprocess.run(
        [sys.executable, "-m", module, _ONE, *cell],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if process.returncode == 2:  # what it said stands on standard error
        raise UserError(f"{what} cannot be measured.")
    return json.loads(process.stdout) if process.returncode == 0 else None


def compiled(train: TrainConfig, build: Callable[[], Any], loss: Any) -> Any:
    """A model as `fit` trains it.

    Args:
        train: Its settings.
        build: Makes the model, in the precision of `train`.
        loss: Of the model.
    """
    import keras

    from applications.pipeline import optimizers

    keras.config.set_dtype_policy(train.precision)
    model = build()
    model.compile(
        optimizer=optimizers.build(train, steps=1000),
        loss=loss,
        jit_compile=train.jit_compile,
    )
    return model


def measured(model: Any, small: tuple, batch: tuple, seconds: float) -> StepCost:
    """Train a few steps.

    Args:
        model: A `compiled` one.
        small: Inputs and labels of a step that loads what there is to load.
        batch: Those of the step that is measured.
        seconds: How long.
    """
    import numpy as np

    from applications.pipeline import memory

    model.train_on_batch(*small)
    # A second shape makes TensorFlow forget lengths, and attention its short cuts.
    model.make_train_function(force=True)
    before = memory.start_of_growth()
    model.train_on_batch(*batch)  # is traced
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        began = time.perf_counter()
        model.train_on_batch(*batch)
        times.append(time.perf_counter() - began)
    return StepCost(float(np.median(times)), memory.growth_since(before))
