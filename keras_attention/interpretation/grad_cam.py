"""Grad-CAM: where a feature map speaks for a class."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.errors import require
from keras_attention.interpretation.capture import replaced
from keras_attention.layers._data_format import channels_axis
from keras_attention.ops import _backend


def grad_cam(
    model: keras.Model,
    images: Any,
    layer: str | keras.layers.Layer,
    classes: int | Sequence[int] | None = None,
    data_format: str | None = None,
) -> np.ndarray:
    """Maps of the positions at which one layer's output raises the score of a class.

    `relu(sum_c a_c A_c)` with `A` the layer's output and `a_c` the mean over positions
    of the gradient of the class's score for channel c. It shows what *raises* a class,
    at the resolution of the layer; what lowers it is cut off. For transformers see
    `rollout`.

    Args:
        model: Any Keras model from images to scores `(B, classes)`. Best logits: after
            a softmax the gradient fades where the model is sure.
        images: One batch, as the model takes it.
        layer: The layer, or its name, at any depth: usually the last one with a map.
        classes: The class for all images, or one for each; by default the one the model
            predicts for each.
        data_format: Where the layer has its channels; by default as its own
            `data_format` says, or else Keras's configuration. A layer without that
            attribute, such as an activation, does not know: say it where the two may
            differ, `"channels_last"` for `AttentionCNN`.

    Returns:
        `(B, h, w)` float32, at least 0, not scaled: 0 everywhere where nothing at this
        layer raises the class.

    Raises:
        ValueError: if there is no such layer or it is called several times, its output
            is not a map, or a class does not exist.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention.interpretation import grad_cam
        >>> x = keras.Input((6, 8, 3))
        >>> y = keras.layers.Conv2D(4, 3, activation="relu", name="last")(x)
        >>> y = keras.layers.GlobalAveragePooling2D()(y)
        >>> model = keras.Model(x, keras.layers.Dense(10)(y))
        >>> grad_cam(model, np.ones((2, 6, 8, 3)), "last").shape
        (2, 4, 6)

    Source: Selvaraju et al. 2017, arXiv:1610.02391, equations 1 and 2.
    """
    layer = _found(model, layer)
    outputs: list = []
    with _calling(layer, lambda output: outputs.append(output) or output):
        scores = model(images, training=False)
    require(
        len(outputs) == 1 and len(getattr(outputs[0], "shape", ())) == 4,
        "`layer` must be called once and return a map of four axes, such as "
        "(B, h, w, C).",
        layer=layer.name,
        shapes=[getattr(output, "shape", type(output)) for output in outputs],
    )
    chosen = _one_hot(scores, classes)

    def answer(replacement):
        with _calling(layer, lambda output: ops.cast(replacement, output.dtype)):
            return model(images, training=False)

    _, pull_back = _backend.vjp(answer, outputs[0])
    (gradient,) = pull_back(chosen)
    own = data_format or getattr(layer, "data_format", None)
    return _weighted(outputs[0], gradient, channels_axis(own))


def _found(model, layer) -> keras.layers.Layer:
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


def _calling(layer, change):
    """A context in which `change` has the last word on what the layer returns."""
    call = layer.call
    return replaced(layer, "call", lambda *args, **kw: change(call(*args, **kw)))


def _one_hot(scores, classes):
    """1 for the score that is explained of each image, in the shape of the scores."""
    require(
        len(getattr(scores, "shape", ())) == 2,
        "`model` must return scores of the shape (B, classes).",
        shape=getattr(scores, "shape", type(scores)),
    )
    batch, num_classes = scores.shape
    if classes is None:
        classes = ops.convert_to_numpy(ops.argmax(scores, axis=-1))
    classes = np.asarray(classes)
    require(
        classes.shape in ((), (batch,))
        and np.issubdtype(classes.dtype, np.integer)
        and bool((classes >= 0).all() and (classes < num_classes).all()),
        f"`classes` must be one class, or one for each image, from 0 to "
        f"{num_classes - 1}.",
        classes=classes.tolist(),
    )
    classes = np.broadcast_to(classes, (batch,))
    return ops.one_hot(classes, num_classes, dtype=scores.dtype)


def _weighted(activations, gradient, channels: int) -> np.ndarray:
    """Equations 1 and 2, outside the backend."""
    maps, slopes = (
        np.moveaxis(ops.convert_to_numpy(ops.cast(x, "float32")), channels, -1)
        for x in (activations, gradient)
    )  # each (B, h, w, C)
    weights = slopes.mean(axis=(1, 2), keepdims=True)
    return np.maximum((weights * maps).sum(axis=-1), 0)
