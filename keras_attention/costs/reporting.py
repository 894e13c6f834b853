"""What a model costs: parameters, multiply-adds, memory, and how they grow.

Matplotlib is imported when a plot is made.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import keras

from keras_attention.costs.meter import Tally, measure
from keras_attention.costs.specs import fill, has_free_axes, model_inputs
from keras_attention.errors import positive_integer, require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS = {"multiply_adds": "multiply-adds", "activation_bytes": "activations (bytes)"}
_LAYER = ("layer", "kind")
_LINES = 8  # more kinds of layers in one plot cannot be told apart


@dataclass(frozen=True, kw_only=True)
class Row:
    """One layer, or a layer with all that is inside it.

    Attributes:
        layer: Path: names from the model down, joined by `/`; the model has its own.
        kind: Name of the class.
        depth: 0 for the model, 1 for its layers, and so on.
        parameters: Trainable or not, as `count_params` counts them.
        multiply_adds: Of the matrix products that are known.
        counted: Whether these are all.
        weight_bytes: Of the parameters, as they are kept.
        activation_bytes: Of the activations.
    """

    layer: str
    kind: str
    depth: int
    parameters: int = 0
    multiply_adds: int = 0
    counted: bool = True
    weight_bytes: int = 0
    activation_bytes: int = 0

    def __add__(self, other: "Row") -> "Row":
        """This layer with what the other one costs."""
        return replace(
            self,
            parameters=self.parameters + other.parameters,
            multiply_adds=self.multiply_adds + other.multiply_adds,
            counted=self.counted and other.counted,
            weight_bytes=self.weight_bytes + other.weight_bytes,
            activation_bytes=self.activation_bytes + other.activation_bytes,
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say about it."""
        costs = self.parameters, self.multiply_adds, self.activation_bytes
        return self.counted and not any(costs)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The costs of one forward pass of a model; `print` it, or `plot` it.

    Attributes:
        rows: Every layer, each without the layers inside it, in their order.
        batch: Rows of a batch.
        length: What stands for each free axis; `None` where there is none.
        grown: Reports of other lengths, in their order, this one among them.
    """

    rows: tuple[Row, ...]
    batch: int
    length: int | None
    grown: tuple["Report", ...] = field(default=(), repr=False)

    # ---------------------------------------------------------------------- the numbers

    @property
    def total(self) -> Row:
        """The whole model."""
        return self.at_depth(0)[0]

    @property
    def not_counted(self) -> list[str]:
        """Layers that may multiply more than is known here, by path."""
        return [f"{row.layer} ({row.kind})" for row in self.rows if not row.counted]

    def at_depth(self, depth: int | None = None) -> list[Row]:
        """Rows down to a depth, each of the last with all that is inside it.

        Args:
            depth: 0 for the model as a whole, 1 for its layers; by default all.
        """
        rows: list[Row] = []
        for row in self.rows:
            if depth is None or row.depth <= depth:
                rows.append(row)
            else:
                rows[-1] = rows[-1] + row
        return rows

    def __getitem__(self, path: str) -> Row:
        """A layer with all that is inside it, by its path or the end of one.

        Raises:
            ValueError: for a name that fits no path, or several.
        """
        paths = [row.layer for row in self.rows]
        found = [i for i, name in enumerate(paths) if name == path]
        if not found:
            found = [i for i, name in enumerate(paths) if name.endswith(f"/{path}")]
        require(
            len(found) == 1,
            f"The name of a layer must fit exactly one of {paths}.",
            name=path,
            fitting=[paths[i] for i in found],
        )
        first, *others = self.rows[found[0] :]
        below = itertools.takewhile(lambda row: row.depth > first.depth, others)
        return sum(below, start=first)

    # ----------------------------------------------------------------------- as a table

    def __str__(self) -> str:
        parts = [self.table()]
        if len(self.grown) > 1:
            parts.append(self.growth_table())
        return "\n\n".join(parts)

    def _repr_markdown_(self) -> str:
        return str(self)

    def table(self, depth: int | None = None) -> str:
        """A Markdown table, a row a layer, with what it costs itself.

        Args:
            depth: Layers below it are added to the one that holds them; by default each
                has its own row.
        """
        lines = [(*_LAYER, "parameters", "multiply-adds", "weights", "activations")]
        rows = [row for row in self.at_depth(depth) if not row.is_empty]
        for row in [*rows, replace(self.total, layer="**total**", kind="")]:
            sizes = _bytes(row.weight_bytes), _bytes(row.activation_bytes)
            lines.append(
                (row.layer, row.kind, f"{row.parameters:,}", _products(row), *sizes)
            )
        table = _markdown(lines, left=2)
        if self.not_counted:
            table += f"\n\nNot counted: products of {', '.join(self.not_counted)}."
        return table

    def growth_table(self, depth: int = 0) -> str:
        """A Markdown table of multiply-adds and activations at every length.

        Args:
            depth: 0 for the model as a whole, 1 for its layers, and so on.
        """
        lines = [("layer", "length", "multiply-adds", "activations")]
        columns = [report.at_depth(depth) for report in self.grown]
        for rows in zip(*columns, strict=True):
            for report, row in zip(self.grown, rows, strict=True):
                if row.multiply_adds or row.activation_bytes:
                    length, size = f"{report.length:,}", _bytes(row.activation_bytes)
                    lines.append((row.layer, length, _products(row), size))
        return _markdown(lines, left=1)

    # ------------------------------------------------------------------------ as a plot

    def plot(self) -> "Figure":
        """Multiply-adds and activations over length, a line a kind of layer.

        Both axes are logarithmic: a straight line of slope 1 is linear growth, of slope
        2 quadratic. Kinds that cost least share the line "others".

        Raises:
            ValueError: for a report of a single length.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        require(
            len(self.grown) > 1,
            "A plot needs a model with an axis of free length, at several `lengths`.",
            length=self.length,
        )
        figure = Figure(figsize=(10, 4.5), layout="compressed")
        FigureCanvasAgg(figure)
        lengths = [report.length for report in self.grown]
        panels = zip(figure.subplots(1, 2), _PANELS.items(), strict=True)
        colors: dict[str, str] = {}
        for axes, (name, label) in panels:
            for kind, costs in _by_kind(self.grown, name).items():
                color = colors.setdefault(kind, f"C{len(colors)}")
                axes.plot(lengths, costs, marker="o", color=color, label=kind)
            total = [getattr(report.total, name) for report in self.grown]
            axes.plot(lengths, total, "k--", label="total")
            axes.set(xlabel="length", ylabel=label, title=f"batch {self.batch}")
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
            axes.legend(fontsize="small")
        return figure


def report(
    model: keras.layers.Layer,
    batch: int = 1,
    length: int | None = None,
    inputs: Any = None,
    lengths: Sequence[int] | None = None,
    **call_options: Any,
) -> Report:
    """The costs of one forward pass of a model, a layer and a row each.

    *Parameters* are `model.count_params()`. *Multiply-adds*, half the floating-point
    operations, are those of matrix products, `m k n` for `(m, k) (k, n)`, and of
    convolutions: with attention on its dense path, a convolution's kernel at every
    output position and a loop's body at every step. Sums, norms, softmax, activation
    functions and look-ups count as 0. *Activations* are the bytes that each innermost
    layer returned; of attention also its scores `(B, N, T, S)`, with H numbers more for
    each where the score compares pairs by a network. What an operation needs in between
    is left out.

    Keras's layers are counted by formulas. A layer of ours or yours has a method
    `multiply_adds`, which asks for arguments of its `call` by name, tensors by shape as
    in `inputs_shape`, and leaves out what the layers inside it multiply (a block that
    only puts layers together returns 0). What has no formula is shown as not counted.

    Args:
        model: A functional or sequential model, or any other model or layer together
            with `inputs`. An unbuilt one is built. It is traced, never computed.
        batch: Rows of a batch.
        length: What stands for every axis that the inputs leave free; `None` is allowed
            where they leave none.
        inputs: What the call takes: a shape such as `(None, None, 512)`, batch first, a
            `keras.Input` where the dtype matters, a dict of them, or a list of such for
            a call of several arguments. By default those of the model.
        lengths: Where to look how costs grow, beside `length`; by default an eighth, a
            quarter and a half of it.
        **call_options: Further arguments of the call, such as `use_causal_mask=True`.

    Returns:
        A `Report`; `print(report)` gives Markdown tables, `report.plot()` a figure.

    Raises:
        ValueError: for sizes that are not positive, or inputs or a length that are
            missing.

    Examples:
        >>> from keras_attention import costs, layers
        >>> layer = layers.MultiHeadAttention(8, key_dim=64, use_bias=False, name="mha")
        >>> x = (None, None, 512)
        >>> report = costs.report(layer, batch=1, length=128, inputs=[x, x])
        >>> report.total.parameters, report.total.multiply_adds
        (1048576, 150994944)
        >>> 4 * 128 * 512 * 512 + 2 * 128 * 128 * 512
        150994944
    """
    positive_integer("batch", batch)
    inputs = model_inputs(model) if inputs is None else inputs
    arguments = inputs if isinstance(inputs, list) else [inputs]
    free = has_free_axes(arguments)
    require(
        length is not None or not free,
        "`length` must say what the free axes of the inputs stand for.",
        length=length,
    )
    if length is not None:
        positive_integer("length", length)

    def at(length):
        specs = fill(arguments, batch, length)
        rows = tuple(map(_row, measure(model, specs, **call_options)))
        return Report(rows=rows, batch=batch, length=length)

    whole = at(length)
    if not free:
        return whole
    if lengths is None:
        lengths = [length // part for part in (8, 4, 2) if length >= part]
    others = sorted({positive_integer("lengths", other) for other in lengths})
    reports = {other: at(other) for other in others if other != length}
    reports[length] = whole
    return replace(whole, grown=tuple(reports[key] for key in sorted(reports)))


def _row(tally: Tally) -> Row:
    names = [one.name for one in fields(Row) if one.name not in _LAYER]
    costs = {name: getattr(tally, name) for name in names}
    return Row(layer=tally.path, kind=type(tally.layer).__name__, **costs)


# ------------------------------------------------------------------ tables and lines


def _markdown(lines: list[tuple[str, ...]], left: int) -> str:
    """A table; the first line is its heading, the first `left` columns are text."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def written(line):
        cells = [
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        return f"| {' | '.join(cells)} |"

    rule = ["-" * w if i < left else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    heading, *rest = lines
    return "\n".join(map(written, [heading, rule, *rest]))


def _products(row: Row) -> str:
    if row.counted:
        return f"{row.multiply_adds:,}"
    known = row.multiply_adds
    return f"at least {known:,}" if known else "not counted"


def _bytes(number: int) -> str:
    """A size that is easy to read: 0 B, 1.0 KiB, 1.5 MiB."""
    if number < 1024:
        return f"{number} B"
    power = min(int(math.log(number, 1024)), 4)
    return f"{number / 1024**power:.1f} {'KMGT'[power - 1]}iB"


def _by_kind(reports: Sequence[Report], name: str) -> dict[str, list[int]]:
    """Costs of each kind of layer in every report, the dearest kinds first."""
    kinds: dict[str, list[int]] = {}
    for index, one in enumerate(reports):
        for row in one.rows:
            costs = kinds.setdefault(row.kind, [0] * len(reports))
            costs[index] += getattr(row, name)
    ranked = sorted(kinds.items(), key=lambda item: -item[1][-1])
    lines = {kind: costs for kind, costs in ranked if all(costs)}
    if len(lines) <= _LINES:
        return lines
    shown, rest = list(lines.items())[: _LINES - 1], list(lines.values())[_LINES - 1 :]
    return {**dict(shown), "others": [sum(costs) for costs in zip(*rest, strict=True)]}
