"""Evaluated runs side by side: what the commands that compare them share."""

import math
from collections.abc import Sequence
from typing import Any

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.pipeline.run import Run


def named(application: str, names: Sequence[str]) -> list[Run]:
    """The runs of an application by name, two or more.

    Raises:
        UserError: There are fewer, or there is no such run.
    """
    if len(names) < 2:
        raise UserError("Name at least two evaluated runs to compare.")
    return [runs.find(runs.default_root(), application, name=name) for name in names]


def evaluated(run: Run) -> dict[str, Any]:
    """The test metrics of a run.

    Raises:
        UserError: It is not evaluated.
    """
    if "evaluate" not in run.metrics():
        raise UserError(
            f"{run.name} is not evaluated. Run: python -m "
            f"applications.{run.application} evaluate run={run.name}"
        )
    found: dict[str, Any] = run.results()["evaluate"]["metrics"]
    return found


def require_same(found: Sequence[Run], references: Sequence[Any], what: str) -> None:
    """Refuse runs that were evaluated on other examples than the first.

    Args:
        found: The runs.
        references: What is right for all examples of each.
        what: What examples are called: `"texts"`.

    Raises:
        UserError: They differ.
    """
    for run, own in zip(found, references, strict=True):
        if own != references[0]:
            raise UserError(
                f"{run.name} was evaluated on other {what} than {found[0].name}; "
                "evaluate both on the same test set."
            )


def interval(gap: Any, digits: int = 1) -> str:
    """A difference with its 95 % interval, as the tables show it.

    Args:
        gap: Has a `value`, a `low` and a `high`: `metrics.bootstrap_difference`. The
            last two are not shown where they are not numbers.
        digits: After the point.
    """
    value, low, high = (f"{x:+.{digits}f}" for x in (gap.value, gap.low, gap.high))
    return value if math.isnan(gap.low) else f"{value} [{low}, {high}]"


def number(value: float | None, digits: int = 1) -> str:
    """A cell of a table; a dash where there is no number."""
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"
