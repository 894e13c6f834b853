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
from feature_map_pictures import draw_gate, draw_map_scores
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from keras_attention import layers

MENU = "Gallery"
PERIOD, REPEATS, FEATURES = 6, 4, 8
LENGTH = PERIOD * REPEATS

# Constructor arguments that have no default, by name; the same in every layer.
ARGUMENTS = {
    "axis": 1,
    "bandwidth": 1.0,
    "block_size": PERIOD,
    "hidden_dim": FEATURES,
    "key_dim": FEATURES,
    "max_sequence_length": LENGTH,
    "num_heads": 2,
    "projected_length": PERIOD,
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
    return _draw_weights(scores.reshape(-1, *scores.shape[-2:]), "score")


def draw_implied_weights(layer: keras.layers.Layer) -> Figure:
    """What each value weighs in the output of a layer without scores, a panel per head.

    A head's output is linear in its values, so values that are one-hot show it.
    """
    inputs = sequence()
    layer(inputs, inputs)
    one_hot = np.eye(LENGTH, dtype="float32")[None, :, None]
    values = np.repeat(one_hot, layer.num_heads, axis=2)
    query, key = layer.query_dense(inputs), layer.key_dense(inputs)
    weights = keras.ops.convert_to_numpy(layer.attend_heads(query, key, values))[0]
    return _draw_weights(weights.swapaxes(0, 1), "weight")


def _draw_weights(panels: np.ndarray, label: str) -> Figure:
    figure = Figure(figsize=(3.2 * len(panels), 3.4), layout="constrained")
    lowest = min(0.0, panels.min())
    for head, axes in enumerate(figure.subplots(1, len(panels), squeeze=False)[0]):
        image = axes.imshow(panels[head], vmin=lowest, cmap="viridis", aspect="auto")
        title = f"head {head + 1}" if len(panels) > 1 else ""
        axes.set(xlabel="key", ylabel="query", title=title)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    figure.colorbar(image, ax=axes, shrink=0.8, label=label)
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


def draw_bias(layer: keras.layers.Layer) -> Figure:
    """What a bias layer adds to the logits, a panel per head."""
    bias = keras.ops.convert_to_numpy(layer(query=LENGTH))[0]
    figure = Figure(figsize=(3.6 * len(bias), 3.2), layout="constrained")
    for head, axes in enumerate(figure.subplots(1, len(bias), squeeze=False)[0]):
        image = axes.imshow(bias[head], cmap="viridis", aspect="auto")
        axes.set(xlabel="key", ylabel="query", title=f"head {head + 1}")
        figure.colorbar(image, ax=axes, shrink=0.8, label="bias")
    return figure


def draw_rotation(layer: keras.layers.Layer) -> Figure:
    """What a rotation makes of pairs (1, 0), position by feature."""
    heads = np.zeros((1, 64, 1, 32), "float32")
    heads[..., :16] = 1
    turned = keras.ops.convert_to_numpy(layer(heads))[0, :, 0]
    figure = Figure(figsize=(4.2, 3.4), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(turned.T, aspect="auto")
    axes.set(xlabel="position", ylabel="feature")
    figure.colorbar(image, ax=axes, label="feature of the turned pairs")
    return figure


def draw_grid_encoding(layer: keras.layers.Layer) -> Figure:
    """What a position layer adds to zeros on a grid, for four features."""
    added = layer(np.zeros((1, 16, 16, 16), "float32"))
    return _draw_grid(keras.ops.convert_to_numpy(added)[0], (0, 2, 8, 10))


def draw_grid_rotation(layer: keras.layers.Layer) -> Figure:
    """What a rotation makes of pairs (1, 0) on a grid, for four pairs."""
    heads = np.zeros((1, 16, 16, 1, 16), "float32")
    heads[..., :8] = 1
    turned = keras.ops.convert_to_numpy(layer(heads))[0, :, :, 0]
    return _draw_grid(turned, (0, 1, 4, 5))


def _draw_grid(features: np.ndarray, shown: tuple[int, ...]) -> Figure:
    figure = Figure(figsize=(2.3 * len(shown), 2.6), layout="constrained")
    for axes, feature in zip(figure.subplots(1, len(shown)), shown, strict=True):
        image = axes.imshow(features[..., feature], vmin=-1.0, vmax=1.0)
        axes.set(xlabel="column", ylabel="row", title=f"feature {feature}")
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def draw_patches(layer: keras.layers.Layer) -> Figure:
    """Which vector each pixel of a 12 x 16 image reaches, from one-hot images."""
    rows, columns = 12, 16
    images = np.eye(rows * columns, dtype="float32").reshape(-1, rows, columns, 1)
    reached = keras.ops.convert_to_numpy(layer(images)).any(axis=-1)  # (pixels, L)
    patches = reached.argmax(axis=-1).reshape(rows, columns)
    figure = Figure(figsize=(4.2, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.imshow(patches, cmap="viridis")
    for patch in range(reached.shape[1]):
        row, column = np.argwhere(patches == patch).mean(axis=0)
        shade = "white" if patch < reached.shape[1] / 2 else "black"
        axes.text(column, row, str(patch), color=shade, ha="center", va="center")
    axes.set(xlabel="column of the image", ylabel="row of the image")
    return figure


SCORES_CAPTION = (
    "Weights of the untrained layer (seed 0) attending from a sequence to itself. The "
    f"sequence repeats every {PERIOD} steps with a little noise, so a score that looks "
    f"at content shows lines {PERIOD} apart."
)


IMPLIED_CAPTION = (
    "The untrained layer (seed 0) over a sequence that repeats every "
    f"{PERIOD} steps with a little noise: what each value weighs in the output, though "
    "the layer never holds these numbers."
)
POOLED_CAPTION = (
    "Weights of the untrained layer (seed 0) over a sequence that repeats every "
    f"{PERIOD} steps with a little noise: like content weighs alike."
)
GATE_CAPTION = (
    "The gate of the untrained layer (seed 0) on a map with a spot in each of eight "
    "channels, each stronger than the one before. An untrained gate says what the "
    "layer can tell apart, not what counts."
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What the page of a layer has beyond the layer's own docstring."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    draw: Callable[[keras.layers.Layer], Figure] = draw_scores
    caption: str = SCORES_CAPTION
    note: str = ""


ROWS = {
    "AttentionPooling": Row(
        arguments={"num_queries": 4},
        caption=f"{POOLED_CAPTION} Four queries.",
    ),
    "BottleneckAttention": Row(
        arguments={"ratio": 2, "dilation_rate": 2},
        draw=draw_gate,
        caption=f"{GATE_CAPTION} One gate for each channel of each position.",
    ),
    "ConcurrentSqueezeExcitation": Row(
        draw=draw_gate,
        caption=f"{GATE_CAPTION} The sum of two gates, from 0 to 2.",
    ),
    "ConvolutionalBlockAttention": Row(
        arguments={"ratio": 2},
        draw=draw_gate,
        caption=f"{GATE_CAPTION} The product of a gate of channels and one of "
        "positions.",
    ),
    "CoordinateAttention": Row(
        arguments={"ratio": 2},
        draw=draw_gate,
        caption=f"{GATE_CAPTION} The product of a gate of rows and one of columns.",
    ),
    "EfficientChannelAttention": Row(
        arguments={"kernel_size": 3}, draw=draw_gate, caption=GATE_CAPTION
    ),
    "FeatureMapAttention": Row(
        draw=draw_map_scores,
        caption="What two positions (red) read in the first head of the untrained "
        "layer (seed 0), on a map with a spot in each of eight channels.",
    ),
    "GatedAttention": Row(caption=POOLED_CAPTION),
    "LinearAttention": Row(
        draw=draw_implied_weights,
        caption=f"{IMPLIED_CAPTION} No weight is far from the mean.",
    ),
    "LinformerAttention": Row(
        draw=draw_implied_weights,
        caption=f"{IMPLIED_CAPTION} Mixtures of {PERIOD} rows, some negative.",
    ),
    "MonotonicAttention": Row(
        caption="Expected alignments of the untrained layer (seed 0): from step to "
        "step they move on, and what leaves the memory is lost.",
    ),
    "PatchEmbedding": Row(
        arguments={"patch_size": 4},
        draw=draw_patches,
        caption="Patches of 4 x 4 of an image of 12 x 16, numbered as the vectors that "
        "they become.",
    ),
    "PerformerAttention": Row(
        draw=draw_implied_weights,
        caption=f"{IMPLIED_CAPTION} They approach those of softmax attention.",
    ),
    "SelectiveKernel": Row(
        draw=draw_gate,
        caption="The shares of two kernels in each channel, which sum to 1: the "
        "untrained layer (seed 0) on a map with a spot in each of eight channels.",
    ),
    "SpatialAttention": Row(draw=draw_gate, caption=GATE_CAPTION),
    "SqueezeExcitation": Row(
        arguments={"ratio": 2}, draw=draw_gate, caption=GATE_CAPTION
    ),
    "TemporalAttention": Row(caption=POOLED_CAPTION),
    "AlibiBias": Row(
        draw=draw_bias,
        caption="The bias of each of two heads: slopes 1/16 and 1/256.",
    ),
    "RelativePositionBias": Row(
        draw=draw_bias,
        caption="The untrained bias of each of two heads (seed 0): a number for each "
        "distance, then for ranges of them, other numbers for keys after the query.",
    ),
    "RotaryEmbedding": Row(
        draw=draw_rotation,
        caption="What becomes of pairs (1, 0): first features above, second below.",
    ),
    "RotaryEmbedding2D": Row(
        draw=draw_grid_rotation,
        caption="First features of pairs (1, 0), two that turn with the row and two "
        "that turn with the column.",
    ),
    "SinusoidalPositionEncoding2D": Row(
        draw=draw_grid_encoding,
        caption="Two of the features that tell the row, two that tell the column.",
    ),
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
