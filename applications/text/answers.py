"""The answers of a model to a test split, kept beside its metrics."""

import csv
from collections.abc import Mapping, Sequence

from applications.pipeline import files
from applications.pipeline.run import Run


def write(run: Run, name: str, columns: Mapping[str, Sequence[str]]) -> None:
    """Replace the table `name` of a run: its columns by their heads, tabs between.

    They are sources, references and answers, in this order.
    """
    with (
        files.replacing(run.path(name)) as path,
        open(path, "w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def read(run: Run, name: str) -> tuple[list[str], list[str], list[str]]:
    """Sources, references and answers of an evaluated run."""
    with open(run.path(name), encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    sources, references, answers = zip(*rows, strict=True)
    return list(sources), list(references), list(answers)
