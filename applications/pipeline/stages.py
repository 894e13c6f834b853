"""The stages, for the command line and for Python callers alike.

run = runs.create(runs.default_root(), application.name, "small", config)
stages.train(application, config, run)
stages.evaluate(application, config, run)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from applications.pipeline import card, files, training
from applications.pipeline.application import Application
from applications.pipeline.config import format_value, settings
from applications.pipeline.run import Run
from applications.pipeline.train_config import Config

C = TypeVar("C", bound=Config)


def train(application: Application[C, Any], config: C, run: Run) -> dict[str, Any]:
    """Train a new run, or continue one from its last finished epoch.

    A run continues with the config it was started with, and ends with the same weights
    and history as if it had not been interrupted.
    """
    with run.exclusive():
        training.seed(config.train)
        if not run.state.exists():
            application.prepare(config, run)
        data = application.load(config, run)
        metrics = application.train(config, data, run)
        earlier = run.metrics().get("train", [])
        if not earlier or earlier[-1]["metrics"] != metrics:  # it was not yet complete
            _record(application, config, run, "train", metrics)
    print(f"{run.name}: model in {run.model}")
    return metrics


def evaluate(application: Application[C, Any], config: C, run: Run) -> dict[str, Any]:
    """Measure the best model on the test split, print and record the metrics."""
    data, model = load(application, config, run)
    metrics = application.evaluate(config, data, model, run)
    _record(application, config, run, "evaluate", metrics)
    for name, value in card.flatten(metrics).items():
        print(f"{name}: {card.format_metric(value)}")
    return metrics


def predict(
    application: Application[C, Any], config: C, run: Run, inputs: Sequence[str]
) -> Iterator[str | Iterable[str]]:
    """Yield the best model's answer to each input. Nothing is written.

    An answer may come as the pieces of its text: `"".join` makes one of them.
    """
    data, model = load(application, config, run)
    yield from application.predict(config, data, model, inputs)


def explain(
    application: Application[C, Any], config: C, run: Run, inputs: Sequence[str] = ()
) -> list[Path]:
    """Draw what the best model attends to: `inputs`, or the task's own examples."""
    data, model = load(application, config, run)
    figures = application.explain(config, data, model, run, inputs)
    for figure in figures:
        print(figure)
    return figures


def export(application: Application[C, Any], config: C, run: Run) -> Path:
    """Write the SavedModel of the best model; an earlier one is replaced at the end."""
    data, model = load(application, config, run)
    path = run.path("saved_model", "1")
    with files.replacing(path) as directory:
        found = application.export(config, data, model, directory)
    _record(application, config, run, "export", {"bytes": _size(path), **found})
    print(f"{run.name}: SavedModel in {path}")
    return path


def load(application: Application[C, Any], config: C, run: Run) -> tuple[Any, Any]:
    """The data and the best model of a run."""
    training.seed(config.train)
    data = application.load(config, run)
    return data, application.load_model(config, data, run)


def _record(
    application: Application[C, Any],
    config: C,
    run: Run,
    stage: str,
    metrics: dict[str, Any],
) -> None:
    """Add to the run's metrics, saying what differs from its own config."""
    trained = run.config(type(config))
    before, now = settings(trained), settings(config)
    changed = [
        f"{key}={format_value(now[key].value)}"
        for key in now
        if now[key].value != before[key].value
    ]
    run.record(stage, metrics, {"changed": changed} if changed else {})
    card.write(run, application.about(trained), trained)


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
