"""A Keras model as a function of named tensors, as every format wants it."""

import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np

from keras_attention.errors import require

Endpoint = tuple[Callable[..., dict[str, Any]], list[Any] | None]


def require_tensorflow(what: str) -> None:
    """Raise on other backends, saying where `what` can be written."""
    backend = keras.backend.backend()
    require(
        backend == "tensorflow",
        f"{what} is written under TensorFlow: load the .keras file there.",
        backend=backend,
    )


def require_inputs(model: keras.Model) -> None:
    """Raise if the model does not know its inputs by shape and name."""
    require(
        bool(getattr(model, "inputs", None)),
        "`model` must be a functional or a built sequential model; make one of yours "
        "with keras.Model(inputs, model(inputs)).",
        model=model.name,
    )


def by_name(model: keras.Model) -> keras.Model:
    """The same layers as a model that takes a dict: arrays by the names of its inputs.

    Raises:
        ValueError: the model does not know its inputs by shape and name.
    """
    require_inputs(model)
    is_sequential = isinstance(model, keras.Sequential)
    output = model.outputs if is_sequential else model.output
    return keras.Model({x.name: x for x in model.inputs}, output)


def endpoint(model: keras.Model) -> Endpoint:
    """The function that runs `model` at inference, and the signature of its inputs.

    Inputs have the names of the `keras.Input`s; outputs are those of `named`.

    Raises:
        ValueError: as `by_name`.
    """
    import tensorflow as tf

    inner = by_name(model)

    def answer(*tensors):
        names = [x.name for x in model.inputs]
        inputs = dict(zip(names, tensors, strict=True))
        return named(inner(inputs, training=False))

    return answer, [tf.TensorSpec(x.shape, x.dtype, name=x.name) for x in model.inputs]


def as_arrays(
    inputs: Mapping[str, Any], kinds: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Inputs by name as arrays of the numbers, by name, that a file takes."""
    require(
        set(inputs) == set(kinds),
        f"`inputs` must be given by the names {sorted(kinds)}.",
        inputs=sorted(inputs),
    )
    return {name: np.asarray(x, dtype=kinds[name]) for name, x in inputs.items()}


def failed(what: str, error: Exception) -> ValueError:
    """The pages of another program's error as one line after what it means."""
    reason = textwrap.shorten(str(error), 300) or type(error).__name__
    return ValueError(f"{what} Received: {reason}")


def named(output: Any) -> dict[str, Any]:
    """A model's outputs by their keys, else as `output_0`, `output_1` and so on."""
    if isinstance(output, dict):
        return output
    return {f"output_{i}": x for i, x in enumerate(keras.tree.flatten(output))}
