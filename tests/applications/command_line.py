"""An application as its users call it, in this process."""

import contextlib
import csv
import io
import os
import time

import pytest

from applications.pipeline import cli
from applications.pipeline import run as runs


class CommandLine:
    """`python -m applications.<name>`.

    Args:
        name: The application's name.
        presets: Its presets.
        load: Its loader.
    """

    def __init__(self, name, presets, load):
        self.name, self.presets, self.load = name, presets, load

    def __call__(self, *arguments):
        """The exit code of a command."""
        return cli.main(self.name, self.presets, self.load, list(arguments))

    def stages(self, root, stages, *settings):
        """Runs stages of the smoke preset, the first with `settings`.

        Args:
            root: Where the run goes.
            stages: What a user adds to each stage, by stage in the order of calls.
            *settings: Of the run.

        Returns:
            By stage `(seconds, what it printed)`.
        """
        said = {}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(runs.ROOT_VARIABLE, str(root))
            for stage, arguments in stages.items():
                output, began = io.StringIO(), time.monotonic()
                with contextlib.redirect_stdout(output):
                    code = self(stage, "--preset", "smoke", *arguments, *settings)
                assert code == 0, f"{stage} ended with {code}"
                said[stage] = (time.monotonic() - began, output.getvalue())
                settings = ()
        return said

    def told(self, smoke, capsys):
        """What each stage of the only run printed, by stage; shows their seconds.

        Args:
            smoke: The root, and what `stages` returned.
            capsys: Of the test.
        """
        root, said = smoke
        seconds = {stage: round(taken, 1) for stage, (taken, _) in said.items()}
        with capsys.disabled():
            print(f"\nsmoke: {seconds}, {sum(seconds.values()):.1f} s together")
        printed = {stage: text for stage, (_, text) in said.items()}
        assert "Epoch 2/2" in printed["train"]
        assert self.listing(root) == ["smoke-001"]
        return printed

    def refused(self, capsys, *arguments):
        """The one line of error that a refused command prints, and nothing else."""
        capsys.readouterr()
        assert self(*arguments) == 2
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        *before, line = captured.err.splitlines()
        assert all(each.startswith("Preparing ") for each in before)
        assert line.startswith("error: ")
        return line

    def listing(self, root):
        """The names of the runs below `root`."""
        home = root / self.name
        return sorted(os.listdir(home)) if home.exists() else []


def assert_holds(run, *own):
    """A run after all stages has the files of every run, its `own`, and no others."""
    assert {path.name for path in run.directory.iterdir()} == {
        "card.md",
        "config.json",
        "figures",
        "history.csv",
        "logs",
        "metrics.json",
        "model.keras",
        "saved_model",
        "state",
        *own,
    }


def history(run):
    """The rows of a run's history, an epoch each."""
    with open(run.path("history.csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
