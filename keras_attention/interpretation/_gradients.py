"""Gradients of a model's score for what a layer inside it returns."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.errors import require
from keras_attention.interpretation.capture import replaced
from keras_attention.ops import _backend

Tensor = Any

_NEVER = -1e9  # a logit whose exponential is 0 beside any other


def output_and_gradient(
    model: keras.Model,
    inputs: Any,
    layer: keras.layers.Layer,
    explained: Callable[[Tensor], Tensor],
    axes: int,
    expected: str,
) -> tuple[Tensor, Tensor]:
    """What `layer` returns, and the gradient of the explained score for it.

    Args:
        model: From inputs to scores `(B, C)`.
        inputs: One batch.
        layer: A layer inside, called once.
        explained: From the scores to one number for each example, `(B,)`.
        axes: How many axes the layer's output must have.
        expected: The same in words, for the error.

    Raises:
        ValueError: if the layer is not called once or returns something else.
    """
    outputs: list = []
    with _calling(layer, lambda output: outputs.append(output) or output):
        model(inputs, training=False)
    require(
        len(outputs) == 1 and len(getattr(outputs[0], "shape", ())) == axes,
        f"`layer` must be called once and {expected}.",
        layer=layer.name,
        shapes=[getattr(output, "shape", type(output)) for output in outputs],
    )

    def answer(replacement):
        with _calling(layer, lambda output: ops.cast(replacement, output.dtype)):
            return explained(model(inputs, training=False))

    value, pull_back = _backend.vjp(answer, outputs[0])
    (gradient,) = pull_back(ops.ones_like(value))
    return outputs[0], gradient


def found_layer(model, layer: str | keras.layers.Layer) -> keras.layers.Layer:
    """The layer of that name at any depth."""
    if isinstance(layer, keras.layers.Layer):
        return layer
    inside = list(model._flatten_layers(include_self=False))
    fitting = [x for x in inside if x.name == layer]
    require(
        len(fitting) == 1,
        f"`layer` must name exactly one of {sorted({x.name for x in inside})}.",
        layer=layer,
        fitting=len(fitting),
    )
    return fitting[0]


def chosen_classes(scores: Tensor, classes: Any) -> Tensor:
    """1 for the class that is explained of each example, in the shape of the scores.

    Args:
        scores: `(B, C)`.
        classes: One class, or one for each example; `None` takes the predicted ones.
    """
    require(
        len(getattr(scores, "shape", ())) == 2,
        "`model` must return scores of the shape (B, classes).",
        shape=getattr(scores, "shape", type(scores)),
    )
    batch, num_classes = scores.shape
    if classes is None:
        return ops.one_hot(ops.argmax(scores, axis=-1), num_classes, dtype=scores.dtype)
    classes = np.asarray(classes)
    require(
        classes.shape in ((), (batch,))
        and np.issubdtype(classes.dtype, np.integer)
        and bool((classes >= 0).all() and (classes < num_classes).all()),
        f"`classes` must be one class, or one for each example, from 0 to "
        f"{num_classes - 1}.",
        classes=classes.tolist(),
    )
    classes = np.broadcast_to(classes, (batch,))
    return ops.one_hot(classes, num_classes, dtype=scores.dtype)


def log_odds(logits: Tensor, classes: Any) -> Tensor:
    """`log p / (1 - p)` of the class that is explained, `(B,)`.

    Unlike a logit it does not change where all logits rise alike, which probabilities
    do not show; unlike a probability it does not fade where the model is sure.
    """
    chosen = chosen_classes(logits, classes)
    require(
        logits.shape[-1] > 1,
        "`model` must tell two classes or more apart.",
        classes=logits.shape[-1],
    )
    own = ops.sum(logits * chosen, axis=-1)
    return own - ops.logsumexp(ops.where(chosen > 0, _NEVER, logits), axis=-1)


def _calling(layer, change):
    """A context in which `change` has the last word on what the layer returns."""
    call = layer.call
    return replaced(layer, "call", lambda *args, **kw: change(call(*args, **kw)))
