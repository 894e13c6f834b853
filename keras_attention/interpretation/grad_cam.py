"""Grad-CAM: where a feature map speaks for a class."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.interpretation._gradients import (
    chosen_classes,
    found_layer,
    output_and_gradient,
)
from keras_attention.layers._data_format import channels_axis


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
    layer = found_layer(model, layer)
    activations, gradient = output_and_gradient(
        model,
        images,
        layer,
        lambda scores: ops.sum(scores * chosen_classes(scores, classes), axis=-1),
        axes=4,
        expected="return a map of four axes, such as (B, h, w, C)",
    )
    own = data_format or getattr(layer, "data_format", None)
    return _weighted(activations, gradient, channels_axis(own))


def _weighted(activations, gradient, channels: int) -> np.ndarray:
    """Equations 1 and 2, outside the backend."""
    maps, slopes = (
        np.moveaxis(ops.convert_to_numpy(ops.cast(x, "float32")), channels, -1)
        for x in (activations, gradient)
    )  # each (B, h, w, C)
    weights = slopes.mean(axis=(1, 2), keepdims=True)
    return np.maximum((weights * maps).sum(axis=-1), 0)
