"""What is kept of a training: the best model, and the state an exact resume needs.

Keras's own checkpoints leave out the counters of random layers (the variables called
`seed_generator_state`), so a resumed model would drop other units than an uninterrupted
one. The state here holds every variable of model and optimizer, bit by bit.
"""

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keras
import numpy as np

from applications.errors import UserError
from applications.pipeline import files


@dataclasses.dataclass
class Progress:
    """How far a training has come.

    Attributes:
        history: A row per finished epoch.
        best: Best value of the quality metric.
        best_epoch: Its epoch, from 1.
        seconds: Time spent in finished epochs; not part of what resumes exactly.
        complete: Whether nothing is left to do.
    """

    history: list[dict[str, float]] = dataclasses.field(default_factory=list)
    best: float | None = None
    best_epoch: int | None = None
    seconds: float = 0.0
    complete: bool = False


def save(path: Path, model: keras.Model, progress: Progress) -> None:
    """Replace the state at `path`: one file, so all of it or nothing is new."""
    arrays = {
        f"{index:05d}": keras.ops.convert_to_numpy(variable)
        for index, variable in enumerate(_variables(model))
    }
    record = json.dumps(dataclasses.asdict(progress))
    with files.replacing(path) as temporary:
        np.savez(temporary, progress=np.array(record), **arrays)


def restore(path: Path, model: keras.Model) -> Progress:
    """Give `model` and its optimizer the variables saved at `path`.

    Raises:
        UserError: The state is of another model.
    """
    with np.load(path) as archive:
        variables = _variables(model)
        saved = [archive[name] for name in sorted(set(archive) - {"progress"})]
        record = json.loads(str(archive["progress"]))
    shapes = [tuple(variable.shape) for variable in variables]
    if [array.shape for array in saved] != shapes:
        raise UserError(
            f"{path} is the state of another model than the code builds now: expected "
            f"{len(shapes)} variables of its shapes, found {len(saved)}. Start a new "
            "run without run=."
        )
    for variable, array in zip(variables, saved, strict=True):
        variable.assign(array)
    return Progress(**record)


def save_model(path: Path, model: keras.Model) -> None:
    """Replace the model at `path`, without its optimizer.

    That leaves a third of the size, and a file that loads where this package is not.
    """
    optimizer, compiled = model.optimizer, model.compiled
    model.optimizer, model.compiled = None, False
    try:
        with files.replacing(path) as temporary:
            model.save(temporary)
    finally:
        model.optimizer, model.compiled = optimizer, compiled


@contextmanager
def averaged_weights(model: keras.Model) -> Iterator[None]:
    """Let `model` have the averages its optimizer keeps, if any, inside the block.

    Keras's `SwapEMAWeights` swaps by additions, which round; here the weights come back
    bit by bit.
    """
    weights = [keras.ops.convert_to_numpy(v) for v in model.trainable_variables]
    weights = [np.array(weight) for weight in weights]  # not views of the variables
    model.optimizer.finalize_variable_values(model.trainable_variables)
    try:
        yield
    finally:
        for variable, weight in zip(model.trainable_variables, weights, strict=True):
            variable.assign(weight)


def _variables(model: keras.Model) -> list[Any]:
    """Every variable training changes, in an order that building the model fixes."""
    return [*model.variables, *model.optimizer.variables]
