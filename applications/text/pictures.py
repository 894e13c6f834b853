"""Pictures of what each step of an answer looked at, for the figures of a run."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from applications.errors import UserError
from applications.pipeline import files
from applications.pipeline.run import Run
from applications.text.alignment import Alignment, has_attention
from keras_attention.interpretation import plots

_EXAMPLES = 3


def require_something_to_show(model: Any, inputs: Sequence[str]) -> None:
    """Refuse a model without attention, and blank texts."""
    if not has_attention(model):
        raise UserError("A model without attention has nothing to show.")
    if not all(text.strip() for text in inputs):
        raise UserError("A blank text has nothing to show. Give a sentence.")


def examples(sources: Sequence[str], is_readable: Callable[[str], bool]) -> list[str]:
    """The first of the test sources that are readable, or of all."""
    readable = [text for text in sources if is_readable(text)]
    return (readable or list(sources))[:_EXAMPLES]


def draw_heads(
    run: Run, name: str, text: str, alignment: Alignment, layers: Iterable[str]
) -> list[Path]:
    """Draw source x answer for layers, a panel per head; returns the pictures."""
    drawn = []
    for layer in layers:
        title = f"{_shown(text)} ({layer.replace('_', ' ')})"
        figure = plots.head_panels(
            alignment.scores[layer], alignment.target, alignment.source, title
        )
        drawn.append(save(run, f"{name}-{layer}.png", figure))
    return drawn


def save(run: Run, name: str, figure: Any) -> Path:
    """Write a figure of a run; nothing half-written stays."""
    path = run.path("figures", name)
    with files.replacing(path) as temporary:
        plots.save(figure, temporary)
    return path


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
