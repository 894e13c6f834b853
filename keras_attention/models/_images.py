"""What models of images share: their shape and the scale of their pixels."""

from typing import Any

import keras

from keras_attention.errors import positive_integer, require


def rescaling() -> keras.layers.Rescaling:
    """The first layer: pixels 0..255 to -1..1, the only place where that is done."""
    # In float32: half precision would round what pixels are scaled to.
    return keras.layers.Rescaling(
        1 / 127.5, offset=-1.0, dtype="float32", name="rescaling"
    )


def image_shape(shape: Any, any_size: bool = False) -> tuple[int | None, ...]:
    """The `input_shape` argument of a model: `(height, width, channels)`.

    Args:
        shape: What was given.
        any_size: Whether height and width may be `None`.
    """
    require(
        isinstance(shape, (tuple, list)) and len(shape) == 3,
        "`input_shape` must be (height, width, channels).",
        input_shape=shape,
    )
    *size, channels = shape
    for known in (*(n for n in size if n is not None or not any_size), channels):
        positive_integer("input_shape", known)
    return tuple(shape)
