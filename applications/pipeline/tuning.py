"""Settings of a trained run that validation chooses: what `tune` commands share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from applications.errors import UserError
from applications.pipeline import cli, quiet
from applications.pipeline import run as runs


def main(
    usage: str,
    application: str,
    presets: Mapping[str, Any],
    load: Callable[[], Any],
    tune: Callable[[Any, Any, runs.Run], Sequence[str]],
    names: Sequence[str],
) -> int:
    """Tune one run and say how to evaluate it so; returns the exit code.

    Args:
        usage: What `--help` prints.
        application: Its name.
        presets: Its presets.
        load: Makes the application; imports TensorFlow.
        tune: From the application, the config of a run and the run to the settings that
            are best on its validation split.
        names: Arguments: one run.
    """

    def tuned(names: Sequence[str]) -> None:
        if len(names) != 1:
            raise UserError("Name one trained run, such as small-001.")
        run = runs.find(runs.default_root(), application, name=names[0])
        with quiet.startup():
            config = run.config(type(presets["small"]))
            best = " ".join(tune(load(), config, run))
        print(
            f"\nBest on the validation split: {best}. On the test split:\n"
            f"python -m applications.{application} evaluate run={run.name} {best}"
        )

    return cli.on_runs(usage, names, tuned)
