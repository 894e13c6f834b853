"""The command line of every application.

    python -m applications.<task> STAGE [--preset NAME] [key=value ...]

Config, presets and runs are resolved before TensorFlow is imported, so help and
mistakes are answered at once. What a user can put right is one line on standard error
and exit code 2; a fault of the program keeps its traceback.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from applications.errors import CannotWriteError, UserError, require_known
from applications.pipeline import quiet
from applications.pipeline import run as runs
from applications.pipeline.config import help_table, override
from applications.pipeline.train_config import Config

DEFAULT_PRESET = "small"

STAGES = {
    "train": "start a run; with run=NAME continue one that was interrupted",
    "evaluate": "measure the best model on the test split",
    "predict": "answer inputs, in their order",
    "explain": "draw what was attended, for inputs or the task's own examples",
    "export": "write a SavedModel that takes raw input",
}

KEYS = {
    "run": "the run; without it the newest trained one of the preset",
    "input": "predict, explain: an input, may be given again",
    "file": "predict, explain: a UTF-8 file with an input per line",
}


@dataclass
class Request:
    """What was asked on the command line."""

    stage: str
    preset: str | None = None
    run: str | None = None
    inputs: list[str] = field(default_factory=list)
    file: str | None = None
    overrides: list[str] = field(default_factory=list)


def main(
    name: str,
    presets: Mapping[str, Config],
    load: Callable[[], Any],
    argv: Sequence[str] | None = None,
) -> int:
    """Run one stage and return the exit code.

    Args:
        name: The application's name, `applications.<name>`.
        presets: Configs by name, importable without TensorFlow.
        load: Returns the `Application`; called with start-up lines silenced, so it is
            the place to import the module that imports TensorFlow.
        argv: Arguments, by default those of the process.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    request = None
    try:
        if "-h" in arguments or "--help" in arguments:
            print(_help(name, presets, arguments))
            return 0
        request = parse(arguments)
        _perform(name, presets, load, request)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\n{_interrupted(name, request)}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our answers left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def on_runs(about: str, names: Sequence[str], action: Callable[..., None]) -> int:
    """Run a command on named runs that is no stage and return the exit code.

    Args:
        about: What `--help` prints.
        names: The arguments.
        action: Called with `names`; what a user can put right it raises as `UserError`.
    """
    if "-h" in names or "--help" in names:
        print(about)
        return 0
    try:
        action(names)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    return 0


def parse(arguments: Sequence[str]) -> Request:
    """Read the arguments; keys without a dot belong to the stage.

    Raises:
        UserError: The stage or an option is unknown, or does not go with the stage.
    """
    parser = _Parser(add_help=False)
    parser.add_argument("stage", nargs="?")
    parser.add_argument("assignments", nargs="*")
    parser.add_argument("--preset")
    parsed = parser.parse_intermixed_args(arguments)
    require_known("stage", parsed.stage or "", STAGES)
    request = Request(parsed.stage, parsed.preset)
    for assignment in parsed.assignments:
        key, _, value = assignment.partition("=")
        if key == "input":
            request.inputs.append(value)
        elif key in KEYS and "=" in assignment:
            setattr(request, key, value)
        else:
            request.overrides.append(assignment)
    _check(request)
    return request


class _Parser(argparse.ArgumentParser):
    """Argparse, with one-line errors."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}. See --help.")


def _check(request: Request) -> None:
    """Refuse combinations that would silently ignore something."""
    if request.run and request.preset:
        raise UserError("Give run=NAME or --preset, not both: a run has its preset.")
    takes_inputs = request.stage in ("predict", "explain")
    if (request.inputs or request.file) and not takes_inputs:
        raise UserError(f"{request.stage} takes neither input= nor file=.")
    if request.inputs and request.file:
        raise UserError("Give input= or file=, not both.")
    if request.stage == "train" and request.run and request.overrides:
        raise UserError(
            "A run continues with the settings it was started with. Received: "
            f"{' '.join(request.overrides)}. Leave them out, or start a new run."
        )


def _perform(
    name: str,
    presets: Mapping[str, Config],
    load: Callable[[], Any],
    request: Request,
) -> None:
    """Resolve config and run, then load the application and run the stage."""
    root = runs.default_root()
    preset = request.preset or DEFAULT_PRESET
    require_known("preset", preset, presets)
    config = override(presets[preset], request.overrides)
    run = None
    if request.run or request.stage != "train":
        run = runs.find(root, name, name=request.run, preset=preset)
        config = override(run.config(type(config)), request.overrides)
    inputs = _inputs(request)
    with quiet.startup():
        from applications.pipeline import stages

        application = load()
    new = run is None
    if run is None:
        run = runs.create(root, name, preset, config)
        request.run = run.name
    try:
        if request.stage == "predict":
            for answer in stages.predict(application, config, run, inputs):
                _print(answer)
        elif request.stage == "explain":
            stages.explain(application, config, run, inputs)
        else:
            getattr(stages, request.stage)(application, config, run)
    except UserError as error:
        if new and not run.state.exists():  # it came to nothing
            run.discard()
        elif request.stage == "train" and isinstance(error, CannotWriteError):
            raise UserError(f"{error} {_continue(name, run.name)}") from error
        raise


def _print(answer: str | Iterable[str]) -> None:
    """An answer, whole or piece by piece as it comes, on a line of its own."""
    for piece in [answer] if isinstance(answer, str) else answer:
        print(piece, end="", flush=True)
    print(flush=True)


def _inputs(request: Request) -> list[str]:
    """The inputs given as input=, as file=, or to predict on standard input."""
    if request.inputs:
        return request.inputs
    if request.file is not None:
        lines = _lines(Path(request.file))
    elif request.stage == "predict":
        if sys.stdin.isatty():
            raise UserError("predict needs input=..., file=PATH or lines to read.")
        lines = _split(sys.stdin.read())
    else:
        return []
    if not lines:
        raise UserError(f"{request.file or 'Standard input'} holds no line to answer.")
    return lines


def _lines(path: Path) -> list[str]:
    try:
        return _split(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} must be UTF-8 text: {error}.") from None


def _split(text: str) -> list[str]:
    """Lines, ended by a line feed only: text may hold other separators."""
    return text.removesuffix("\n").split("\n") if text else []


def _interrupted(name: str, request: Request | None) -> str:
    if request is None or request.stage != "train" or request.run is None:
        return "Interrupted."
    return f"Interrupted. {_continue(name, request.run)}"


def _continue(name: str, run: str) -> str:
    return f"Continue with: python -m applications.{name} train run={run}"


def _help(name: str, presets: Mapping[str, Config], arguments: Sequence[str]) -> str:
    """Stages, keys and presets, and the settings of the preset that was asked for."""
    options = [a for a in arguments if a not in ("-h", "--help")]
    preset = DEFAULT_PRESET
    if "--preset" in options[:-1]:
        preset = options[options.index("--preset") + 1]
    require_known("preset", preset, presets)
    command = f"python -m applications.{name}"
    return "\n".join(
        [
            f"usage: {command} STAGE [--preset NAME] [key=value ...]",
            "\nStages:",
            *(f"  {stage:<9} {text}" for stage, text in STAGES.items()),
            "\nKeys of a stage:",
            *(f"  {key + '=':<9} {text}" for key, text in KEYS.items()),
            f"\nPresets: {', '.join(presets)} (without --preset: {DEFAULT_PRESET})",
            f"\nSettings, with their values in preset {preset}:",
            help_table(presets[preset]),
        ]
    )
