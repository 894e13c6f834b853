"""What a model is called with, as symbols whose free axes get a size."""

from collections.abc import Callable
from typing import Any

import keras

from keras_attention.errors import require


def model_inputs(model: keras.layers.Layer) -> list:
    """The arguments, one, of a model that knows its inputs."""
    known = getattr(model, "inputs", None) if isinstance(model, keras.Model) else None
    require(
        bool(known),
        "`inputs` must give the shapes of the call, such as [(None, None, 512)]: the "
        "model does not know them.",
        model=model.name,
    )
    return known if isinstance(model, keras.Sequential) else [model.input]


def fill(inputs: list, batch: int, length: int | None) -> list:
    """Symbolic tensors with `batch` and `length` on the axes that are free."""

    def filled(spec):
        first, *rest = getattr(spec, "shape", spec)
        shape = [batch if first is None else first]
        shape += [length if size is None else size for size in rest]
        return keras.KerasTensor(shape, dtype=getattr(spec, "dtype", "float32"))

    return _each(filled, inputs)


def has_free_axes(inputs: list) -> bool:
    """Whether an axis but the batch has no size."""
    found: list[bool] = []
    _each(lambda spec: found.append(None in getattr(spec, "shape", spec)[1:]), inputs)
    return any(found)


def _each(function: Callable, inputs: Any) -> Any:
    """`function` of every shape or symbol in a structure, in the same structure."""
    is_shape = isinstance(inputs, tuple) and all(
        size is None or isinstance(size, int) for size in inputs
    )
    if is_shape or isinstance(inputs, keras.KerasTensor):
        return function(inputs)
    require(
        isinstance(inputs, (dict, list, tuple)),
        "`inputs` must be shapes such as (None, None, 512), or `keras.Input`s.",
        inputs=inputs,
    )
    if isinstance(inputs, dict):
        return {name: _each(function, x) for name, x in inputs.items()}
    return type(inputs)(_each(function, x) for x in inputs)
