"""Pictures of layers on feature maps, for the gallery."""

import keras
import numpy as np
from matplotlib.figure import Figure

CHANNELS = 8
SHOWN = (0, 3, 5, 7)  # of a gate that differs by channel and position


def feature_map() -> np.ndarray:
    """`(1, 12, 16, CHANNELS)`: a spot a channel, each stronger than the one before."""
    rows, columns = np.mgrid[:12, :16]
    random = np.random.default_rng(0)
    row, column = random.uniform((2, 2), (10, 14), (CHANNELS, 2)).T
    distance = (rows[..., None] - row) ** 2 + (columns[..., None] - column) ** 2
    strength = np.linspace(0.5, 4.0, CHANNELS)
    return (strength * np.exp(-distance / 6))[None].astype("float32")


def draw_gate(layer: keras.layers.Layer) -> Figure:
    """A feature map beside its gate: bars for channels, panels for positions."""
    inputs = feature_map()
    _, gate = layer(inputs, return_attention_scores=True)
    gate = keras.ops.convert_to_numpy(gate)[0]
    if gate.shape[0] == 1:
        return _draw_bars(inputs, gate.reshape(CHANNELS, -1).T)
    if gate.shape[-1] == 1:
        return _draw_maps(inputs, {"gate": gate[..., 0]})
    return _draw_maps(inputs, {f"gate, channel {c}": gate[..., c] for c in SHOWN})


def draw_map_scores(layer: keras.layers.Layer) -> Figure:
    """What two positions of a feature map, marked, look at in the first head."""
    inputs, queries = feature_map(), ((3, 4), (9, 12))
    _, scores = layer(inputs, return_attention_scores=True)
    scores = keras.ops.convert_to_numpy(scores)[0, 0]
    figure = _draw_maps(inputs, {f"from {query}": scores[query] for query in queries})
    for axes, (row, column) in zip(figure.axes[1:], queries, strict=False):
        axes.plot(column, row, "r+")
    return figure


def _panels(inputs: np.ndarray, others: int) -> tuple:
    """A figure with the mean of the channels, and the panels beside it."""
    figure = Figure(figsize=(3.0 * (1 + others), 2.4), layout="constrained")
    first, *rest = figure.subplots(1, 1 + others)
    figure.colorbar(first.imshow(inputs[0].mean(-1)), ax=first, shrink=0.8)
    first.set(xlabel="column", ylabel="row", title="mean of the channels")
    return figure, rest


def _draw_maps(inputs: np.ndarray, weights: dict[str, np.ndarray]) -> Figure:
    """Weights of positions, on one scale."""
    figure, panels = _panels(inputs, len(weights))
    low, high = (f([f(x) for x in weights.values()]) for f in (np.min, np.max))
    for axes, (title, one) in zip(panels, weights.items(), strict=True):
        image = axes.imshow(one, vmin=low, vmax=high)
        axes.set(xlabel="column", title=title)
    figure.colorbar(image, ax=panels, shrink=0.8)
    return figure


def _draw_bars(inputs: np.ndarray, weights: np.ndarray) -> Figure:
    """Weights of channels, those of several kernels on top of each other."""
    figure, (axes,) = _panels(inputs, 1)
    below = np.zeros(CHANNELS)
    for index, one in enumerate(weights):
        axes.bar(range(CHANNELS), one, bottom=below, label=f"kernel {index}")
        below = below + one
    if len(weights) > 1:
        axes.legend(loc="lower right", fontsize="small")
    axes.set(xlabel="channel", title="gate", ylim=(0, 1))
    return figure
