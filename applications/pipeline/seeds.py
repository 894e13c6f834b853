"""The same settings with several seeds: what commands that average over them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.pipeline.config import override
from applications.pipeline.run import Run

_KEY = "seeds="


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    value: float
    low: float
    high: float


def parsed(arguments: Sequence[str], default: int = 3) -> tuple[range, list[str]]:
    """The seeds, and what else differs from the preset.

    Args:
        arguments: `seeds=N` and settings such as `train.epochs=3`.
        default: How many seeds there are without `seeds=`.

    Raises:
        UserError: There is no interval over fewer than two.
    """
    chosen = [a.removeprefix(_KEY) for a in arguments if a.startswith(_KEY)]
    settings = [a for a in arguments if not a.startswith(_KEY)]
    count = chosen[-1] if chosen else str(default)
    if not count.isdigit() or int(count) < 2:
        raise UserError(f"`seeds` must be an integer of 2 or more. Received: {count}.")
    return range(int(count)), settings


def of_each(
    application: Any,
    presets: Mapping[str, Any],
    preset: str,
    key: str,
    values: Sequence[str],
    chosen: Sequence[int],
    settings: Sequence[str],
) -> dict[str, list[Run]]:
    """The runs of each value of a key, one for each seed; see `measured`.

    Args:
        application: The task.
        presets: Its presets.
        preset: The one that is changed.
        key: The setting that is compared, such as `"model.kind"`.
        values: What it is set to, in their order.
        chosen: The seeds.
        settings: What else differs from the preset.
    """
    return {
        value: [
            measured(
                application,
                presets,
                preset,
                [*settings, f"{key}={value}", f"train.seed={seed}"],
            )
            for seed in chosen
        ]
        for value in values
    }


def measured(
    application: Any, presets: Mapping[str, Any], preset: str, settings: Sequence[str]
) -> Run:
    """A run that is trained and evaluated with just these settings.

    It is made, or brought to its end, where need be; the newest that is there is taken.

    Args:
        application: The task.
        presets: Its presets.
        preset: The one that `settings` change.
        settings: As on the command line, the seed among them.
    """
    from applications.pipeline import stages

    config = override(presets[preset], settings)
    run = _there(application.name, config)
    if run is None:
        run = runs.create(runs.default_root(), application.name, preset, config)
    if not _is_evaluated(run):
        print(f"{run.name}: {' '.join(settings)}")
        stages.train(application, config, run)
        stages.evaluate(application, config, run)
    return run


def _there(application: str, config: Any) -> Run | None:
    """The newest run of just these settings."""
    there = runs.all_of(runs.default_root(), application)
    same = [run for run in there if run.config(type(config)) == config]
    return max(same, key=lambda run: run.name, default=None)


def _is_evaluated(run: Run) -> bool:
    """Whether it is with its own settings, not with fewer texts or other data."""
    entries = run.metrics().get("evaluate", [])
    return any(not entry["protocol"].get("changed") for entry in entries)


def interval(values: np.ndarray, extra: str) -> Interval:
    """Mean of a few values and its 95 % interval, by Student's t.

    Args:
        values: `(n,)`, one for each seed.
        extra: Which extra of this package brings scipy.
    """
    from keras_attention.errors import import_extra

    stats = import_extra("scipy.stats", extra)
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(len(values))
    half = stats.t.ppf(0.975, len(values) - 1) * error
    return Interval(float(mean), float(mean - half), float(mean + half))
