"""Build hook: one gallery page per mechanism, from the library's layer registry.

A new layer gets its page, with a picture of its weights where it has weights, by
standing in the registry. Only what the class cannot tell needs a row in `ROWS`.
"""

import inspect
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
from matplotlib.figure import Figure
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from keras_attention import layers

MENU = "Gallery"
PERIOD, REPEATS, FEATURES = 6, 4, 8
LENGTH = PERIOD * REPEATS

# Constructor arguments that have no default, by name; the same in every layer.
ARGUMENTS = {
    "bandwidth": 1.0,
    "key_dim": FEATURES,
    "max_sequence_length": LENGTH,
    "num_heads": 2,
    "units": FEATURES,
}


def sequence() -> np.ndarray:
    """`(1, LENGTH, FEATURES)`: random vectors that repeat, with a little noise."""
    random = np.random.default_rng(0)
    motif = np.tile(random.normal(size=(PERIOD, FEATURES)), (REPEATS, 1))
    return (motif + 0.1 * random.normal(size=motif.shape))[None].astype("float32")


def draw_scores(layer: keras.layers.Layer) -> Figure:
    """The scores of self-attention over `sequence()`, a panel per head."""
    inputs = sequence()
    takes_two = "value" in inspect.signature(layer.call).parameters
    arguments = (inputs, inputs) if takes_two else (inputs,)
    _, scores = layer(*arguments, return_attention_scores=True)
    # (N, T, S), (T, S), or (S,) for a layer that pools: always panels of rows.
    scores = np.atleast_2d(keras.ops.convert_to_numpy(scores)[0])
    panels = scores.reshape(-1, *scores.shape[-2:])
    figure = Figure(figsize=(3.2 * len(panels), 3.4), layout="constrained")
    for head, axes in enumerate(figure.subplots(1, len(panels), squeeze=False)[0]):
        image = axes.imshow(panels[head], vmin=0.0, cmap="viridis", aspect="auto")
        title = f"head {head + 1}" if len(panels) > 1 else ""
        axes.set(xlabel="key", ylabel="query", title=title)
    figure.colorbar(image, ax=axes, shrink=0.8, label="score")
    return figure


def draw_encoding(layer: keras.layers.Layer) -> Figure:
    """What a position layer adds to zeros, position by feature."""
    added = layer(np.zeros((1, 64, 32), "float32"))
    figure = Figure(figsize=(4.2, 3.4), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(keras.ops.convert_to_numpy(added)[0].T, aspect="auto")
    axes.set(xlabel="position", ylabel="feature")
    figure.colorbar(image, ax=axes, label="added value")
    return figure


SCORES_CAPTION = (
    "Weights of the untrained layer (seed 0) attending from a sequence to itself. The "
    f"sequence repeats every {PERIOD} steps with a little noise, so a score that looks "
    f"at content shows lines {PERIOD} apart."
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What the page of a layer has beyond the layer's own docstring."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    draw: Callable[[keras.layers.Layer], Figure] = draw_scores
    caption: str = SCORES_CAPTION
    note: str = ""


ROWS = {
    "SinusoidalPositionEncoding": Row(
        draw=draw_encoding, caption="What the layer adds at each position."
    ),
}


def picture(layer_class: type, row: Row) -> bytes | None:
    """A PNG, or None for a layer that has no scores and no row that draws it."""
    call = inspect.signature(layer_class.call).parameters
    if row.draw is draw_scores and "return_attention_scores" not in call:
        return None
    constructor = inspect.signature(layer_class).parameters.values()
    required = [
        parameter.name
        for parameter in constructor
        if parameter.default is parameter.empty
        and parameter.kind is not parameter.VAR_KEYWORD
    ]
    known = {**ARGUMENTS, **row.arguments}
    if not known.keys() >= set(required):
        return None
    keras.utils.set_random_seed(0)
    arguments = {name: known[name] for name in required} | dict(row.arguments)
    buffer = io.BytesIO()
    row.draw(layer_class(**arguments)).savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


def mechanisms() -> dict[str, list[str]]:
    """Class names, each with the names `layers.get` knows it by."""
    known: dict[str, list[str]] = {}
    for name, layer_class in layers.registry().items():
        known.setdefault(layer_class.__name__, []).append(name)
    return dict(sorted(known.items()))


def page(class_name: str, names: list[str], row: Row, drawn: bool) -> str:
    """The Markdown of one mechanism."""
    by_name = " or ".join(f'`layers.get("{name}", ...)`' for name in names)
    lines = [
        f"::: keras_attention.layers.{class_name}",
        "    options:",
        "      heading_level: 1",
        "",
        f"By name: {by_name}.",
        "",
    ]
    if row.note:
        lines += [row.note, ""]
    if drawn:
        lines += ["## Picture", "", f"![{row.caption}]({class_name}.png)", ""]
        lines += [f"*{row.caption}*", ""]
    return "\n".join(lines)


def overview() -> str:
    """The first page: every mechanism with the first line of its docstring."""
    lines = [f"# {MENU}", "", "| layer | what it computes |", "|---|---|"]
    for name in mechanisms():
        summary = inspect.getdoc(getattr(layers, name)).split("\n\n")[0]
        lines.append(f"| [{name}]({name}.md) | {' '.join(summary.split())} |")
    return "\n".join([*lines, ""])


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the gallery's place in the menu."""
    menu = next(entry for entry in config.nav if MENU in entry)
    pages: list[str | dict[str, str]] = ["gallery/index.md"]
    menu[MENU] = pages + [{name: f"gallery/{name}.md"} for name in mechanisms()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and the pictures."""

    def add(name: str, content: str | bytes) -> None:
        files.append(File.generated(config, f"gallery/{name}", content=content))

    add("index.md", overview())
    for class_name, names in mechanisms().items():
        row = ROWS.get(class_name, Row())
        drawing = picture(getattr(layers, class_name), row)
        if drawing:
            add(f"{class_name}.png", drawing)
        add(f"{class_name}.md", page(class_name, names, row, bool(drawing)))
    return files
