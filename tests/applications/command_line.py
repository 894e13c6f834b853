"""An application as its users call it, in this process."""

import contextlib
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
