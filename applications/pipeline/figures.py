"""Pictures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from applications.pipeline import files
from applications.pipeline.run import Run


def save(run: Run, name: str, figure: Any) -> Path:
    """Write a figure into the run, `figures/<name>.png`, and return its path."""
    from keras_attention.interpretation import plots

    path = run.path("figures", f"{name}.png")
    with files.replacing(path) as temporary:
        plots.save(figure, temporary)
    return path
