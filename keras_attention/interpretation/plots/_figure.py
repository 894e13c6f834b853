"""Figures without global state, and what all pictures share."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_LABEL = 18  # characters of one token or class
POINTS = 10  # of panel titles and labels; headings have one more


def new_figure(width: float, height: float, heading: str | None = None) -> "Figure":
    """An empty figure of so many inches, unknown to `pyplot`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="compressed")
    FigureCanvasAgg(figure)
    if heading:
        figure.suptitle(heading, fontsize=POINTS + 1, parse_math=False)
    return figure


def save(figure: "Figure", path: str | Path) -> Path:
    """Write a figure to `path`, its suffix the format, making folders as needed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


def layout(panels: int) -> tuple[int, int]:
    """Rows and columns, wide rather than high, with few places left empty."""
    if panels <= 3:
        return 1, panels
    columns = 2 if panels == 4 else min((4, 3), key=lambda width: -panels % width)
    return -(-panels // columns), columns


def as_array(numbers: Any) -> np.ndarray:
    """An array or tensor of any precision as float32."""
    return keras.ops.convert_to_numpy(numbers).astype("float32")


def label(text: str, longest: int = MAX_LABEL) -> str:
    """A text on one line: control characters escaped, the end of a long one cut."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def labels(texts: Sequence[str]) -> list[str]:
    """`label` of each."""
    return [label(text) for text in texts]
