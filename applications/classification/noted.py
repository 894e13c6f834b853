"""What a run knows of its classes: a set may change, or go, after the training."""

import json
from typing import Any, TypeVar

from applications.pipeline import files
from applications.pipeline.run import Run

FILE = "classes.json"

T = TypeVar("T")


def note(run: Run, found: Any) -> None:
    """Write what is known of a set into a run.

    Args:
        run: Which is trained on it.
        found: A named tuple of strings, numbers and tuples, the classes among them.
    """
    files.write_text(run.path(FILE), json.dumps(found._asdict(), indent=2) + "\n")


def noted(run: Run, kind: type[T]) -> T:
    """Read it back as a named tuple of this kind."""
    values = json.loads(run.path(FILE).read_text(encoding="utf-8"))
    return kind(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
    )
