"""What each layer of a model multiplies and returns, noted while it is traced."""

import contextlib
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import keras

from keras_attention.costs import formulas
from keras_attention.interpretation.capture import replaced


def _no_heads(query: Any, value: Any) -> Any:
    """Zeros of the shape that attention gives, `(B, T, N, V)`."""
    return keras.ops.zeros((*query.shape[:3], value.shape[-1]), dtype=value.dtype)


# The methods in which attention layers attend, past their projections. Where a formula
# says what one costs, zeros stand for its result: tracing it may loop over tiles.
_UNATTENDED: dict[str, Callable] = {
    "attend_projected": lambda query, value: (_no_heads(query, value), None),
    "attend_heads": _no_heads,
}


@dataclass
class Tally:
    """One layer, and what it did itself: what the layers inside it did is theirs.

    Attributes:
        layer: The layer.
        path: Names of the layers from the model down, joined; the model has its own.
        depth: 0 for the model, 1 for its layers, and so on.
        parameters: Weights that belong to no layer inside it.
        weight_bytes: Their bytes.
        calls: How often it ran.
        multiply_adds: Of its matrix products, over all calls.
        counted: Whether all of them are known.
        activation_bytes: What it returned and held, over all calls.
    """

    layer: keras.layers.Layer
    path: str
    depth: int
    parameters: int = 0
    weight_bytes: int = 0
    calls: int = 0
    multiply_adds: int = 0
    counted: bool = True
    activation_bytes: int = 0

    def add(self, calls: int, multiply_adds: int | None, activation_bytes: int = 0):
        """Note what came once and is repeated `calls` times."""
        self.calls += calls
        self.counted &= multiply_adds is not None
        self.multiply_adds += calls * (multiply_adds or 0)
        self.activation_bytes += calls * activation_bytes


def measure(model: keras.layers.Layer, specs: list, **options: Any) -> list[Tally]:
    """Tallies of a model and of every layer in it, in order, from one trace.

    The model runs on symbolic tensors (on PyTorch on its `meta` device), so nothing is
    computed. An unbuilt model is built.

    Args:
        model: The model or layer.
        specs: Positional arguments of its call, `keras.KerasTensor`s for tensors.
        **options: Further arguments of that call.
    """
    run = functools.partial(model, training=False, **options)
    complete = all(layer.built for _, _, layer in _walk(model))
    tallies = _traced(model, run, specs)
    # Some layers make those inside them only when they are built.
    return tallies if complete else _traced(model, run, specs)


def _traced(model, run: Callable, specs: list) -> list[Tally]:
    meter = _Meter(model)
    operation = keras.Operation(name=model.name)  # which errors name

    def call(*args):
        meter.clear()  # a backend may trace more than once
        return run(*args)

    operation.call = call
    with contextlib.ExitStack() as stack:
        for tally in meter.tallies:
            layer = tally.layer
            stack.enter_context(replaced(layer, "call", meter.on_call(tally)))
            if core := _core(layer):
                wrapper = meter.on_core(tally, core)
                stack.enter_context(replaced(layer, core, wrapper))
        operation.compute_output_spec(*specs)
    return meter.tallies


def _walk(model) -> Iterator[tuple[str, int, keras.layers.Layer]]:
    """Path, depth and layer: the model, then all that it holds, each layer once."""
    seen: set[int] = set()

    def below(layer, path, depth):
        if id(layer) in seen:
            return
        seen.add(id(layer))
        yield path, depth, layer
        for child in layer._layers:  # Keras's record of sublayers, lists included
            name = child.name if layer is model else f"{path}/{child.name}"
            yield from below(child, name, depth + 1)

    yield from below(model, model.name, 0)


def _tallies(model) -> list[Tally]:
    """A tally a layer; each weight goes to the innermost layer that holds it."""
    tallies, taken = [], set()
    for path, depth, layer in _walk(model):
        inner = {id(weight) for child in layer._layers for weight in child.weights}
        own = [x for x in layer.weights if id(x) not in inner | taken]
        taken |= {id(weight) for weight in own}
        tallies.append(
            Tally(
                layer,
                path,
                depth,
                parameters=sum(math.prod(weight.shape) for weight in own),
                weight_bytes=sum(_bytes(weight) for weight in own),
            )
        )
    return tallies


def _bytes(tensor: Any) -> int:
    """Bytes of a tensor or a variable; 0 for a size not known before run time."""
    return (
        0
        if None in tensor.shape
        else math.prod(tensor.shape) * _item_size(tensor.dtype)
    )


def _item_size(dtype: Any) -> int:
    """Bytes of one number: NumPy does not know all dtypes, but their names do."""
    bits = re.search(r"\d+", keras.backend.standardize_dtype(dtype))
    return max(1, int(bits[0]) // 8) if bits else 1


def _new_bytes(result: Any, arguments: Any) -> int:
    """Bytes of what a call returned, without what it was given and only passed on."""
    given = {id(x) for x in keras.tree.flatten(dict(arguments))}
    new = {id(x): x for x in keras.tree.flatten(result) if hasattr(x, "shape")}
    return sum(_bytes(x) for key, x in new.items() if key not in given)


def _held(layer, method: str, arguments: Any) -> int:
    """Bytes that a layer says its method holds beside its output."""
    formula = formulas.said_by(layer, method, "held_numbers")
    numbers = formulas.ask(formula, arguments) if formula else 0
    return (numbers or 0) * _item_size(layer.compute_dtype)


def _core(layer) -> str | None:
    """Name of the method in which an attention layer attends, past its projections."""
    return next((name for name in _UNATTENDED if hasattr(layer, name)), None)


def _loop_body(layer) -> keras.layers.Layer | None:
    """What a layer runs once for every step of its input's first axis after batch."""
    if isinstance(layer, keras.layers.RNN):
        return layer.cell
    return layer.layer if isinstance(layer, keras.layers.TimeDistributed) else None


class _Meter:
    """Wrappers of calls, and what they share while the model runs.

    A loop runs its body in Python once or at every step, as the backend likes, and
    parts of it before: the first run is noted as often as there are steps, and nothing
    else of the loop.
    """

    def __init__(self, model):
        self.tallies = _tallies(model)
        self.by_layer = {id(tally.layer): tally for tally in self.tallies}
        self.clear()

    def clear(self) -> None:
        """Forget what was noted."""
        self.times = 1  # how often what is called now really runs
        self.noted = 0  # calls so far
        self.silent = False
        self.bodies: dict[int, bool] = {}  # loop bodies; whether they ran
        for tally in self.tallies:
            tally.calls = tally.multiply_adds = tally.activation_bytes = 0
            tally.counted = True

    def on_call(self, tally: Tally) -> Callable:
        """The layer's `call`, noting what it was given and what it returned."""
        layer, call = tally.layer, tally.layer.call
        signature = inspect.signature(call)

        @functools.wraps(call)
        def wrapper(*args, **kwargs):
            first_step = self.bodies.get(id(layer)) is False
            if self.silent and not first_step:
                return call(*args, **kwargs)
            arguments = signature.bind(*args, **kwargs).arguments
            noted, attended = self.noted, tally.calls
            with self._hearing(layer, arguments):
                result = call(*args, **kwargs)
            innermost, self.noted = noted == self.noted, self.noted + 1
            if not _core(layer):
                products = formulas.of_call(layer, arguments)
                size = _new_bytes(result, arguments) if innermost else 0
                size += _held(layer, "call", arguments)
                tally.add(self.times, products, size)
            elif tally.calls == attended:  # it attends in some way of its own
                tally.add(self.times, None)
            return result

        return wrapper

    def on_core(self, tally: Tally, method: str) -> Callable:
        """The method that attends, noting its products, its output and its scores."""
        layer, attend = tally.layer, getattr(tally.layer, method)
        signature = inspect.signature(attend)
        formula = formulas.said_by(layer, method, "multiply_adds")

        @functools.wraps(attend)
        def wrapper(*args, **kwargs):
            if self.silent:
                return attend(*args, **kwargs)
            arguments = signature.bind(*args, **kwargs).arguments
            products = None if formula is None else formulas.ask(formula, arguments)
            if products is not None and not arguments.get("return_attention_scores"):
                result = _UNATTENDED[method](arguments["query"], arguments["value"])
            else:
                self.silent = products is not None  # the layers inside are in it
                result = attend(*args, **kwargs)
                self.silent = False
            output = result[0] if isinstance(result, tuple) else result
            size = _bytes(output) + _held(layer, method, arguments)
            self.noted += 1
            tally.add(self.times, products, size)
            return result

        return wrapper

    @contextlib.contextmanager
    def _hearing(self, layer, arguments):
        """Around a call: notes what is called inside, in a loop its first step only."""
        before = self.silent, self.times
        self.silent = False
        if id(layer) in self.bodies:
            self.bodies[id(layer)] = True
        body = _loop_body(layer)
        try:
            if body is None:
                yield
            else:
                sequence = next(iter(arguments.values()))
                self.silent, self.times = True, self.times * sequence.shape[1]
                self.bodies[id(body)] = False
                yield
                if not self.bodies.pop(id(body)):  # a fused kernel ran in its place
                    self._note_unseen(body, sequence)
        finally:
            self.silent, self.times = before

    def _note_unseen(self, cell, sequence):
        step = keras.KerasTensor((sequence.shape[0], *sequence.shape[2:]))
        name = next(iter(inspect.signature(cell.call).parameters))
        numbers = sequence.shape[0] * sum(keras.tree.flatten(cell.state_size))
        size = numbers * _item_size(cell.compute_dtype)
        self.noted += 1
        products = formulas.of_call(cell, {name: step})
        self.by_layer[id(cell)].add(self.times, products, size)
