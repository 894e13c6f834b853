"""Pixels of any size to the size a model takes, inside a TensorFlow graph."""

from functools import partial

import tensorflow as tf

from applications.images.config import Aspect
from applications.images.decoding import WHITE


def resize(
    pixels: tf.Tensor,
    size: tuple[int, int],
    aspect: Aspect = "crop",
    background: int = WHITE,
) -> tf.Tensor:
    """Return uint8 pixels `(height, width, channels)` as `(*size, channels)`.

    Bilinear with antialiasing, so that a shrunk image is smooth and not a choice of its
    pixels, and rounded: what is kept in memory equals what is served. An image of the
    right size is not touched. Values stay from 0 to 255; the model scales them.

    Args:
        pixels: An image, as `decode` returns it.
        size: Height and width of the result.
        aspect: Where the shape differs, `"crop"` takes the largest part of the middle
            that has the right one, `"pad"` shows all of it in the middle of an empty
            ground, and `"stretch"` distorts it.
        background: The gray value of that ground.
    """
    shape = tf.shape(pixels)[:2]
    same = tf.reduce_all(shape == size)
    methods = {
        "stretch": _stretched,
        "crop": _cropped,
        "pad": partial(_padded, background=background),
    }
    resized = tf.cond(same, lambda: pixels, lambda: methods[aspect](pixels, size))
    return tf.ensure_shape(resized, (*size, pixels.shape[-1]))


def _stretched(pixels: tf.Tensor, size: tuple[int, int] | tf.Tensor) -> tf.Tensor:
    resized = tf.image.resize(pixels, size, "bilinear", antialias=True)
    return tf.cast(tf.clip_by_value(tf.round(resized), 0, 255), tf.uint8)


def _cropped(pixels: tf.Tensor, size: tuple[int, int]) -> tf.Tensor:
    """Cut to the shape of `size` first, so that each pixel is computed once."""
    shape = tf.shape(pixels)[:2]
    kept = _scaled(size, tf.reduce_min(shape / size), shape)
    top, left = tf.unstack((shape - kept) // 2)
    height, width = tf.unstack(kept)
    return _stretched(pixels[top : top + height, left : left + width], size)


def _padded(pixels: tf.Tensor, size: tuple[int, int], background: int) -> tf.Tensor:
    shape = tf.shape(pixels)[:2]
    inner = _scaled(shape, tf.reduce_min(size / shape), size)
    before = (size - inner) // 2
    margins = tf.stack([before, size - inner - before], axis=1)
    return tf.pad(
        _stretched(pixels, inner),
        tf.concat([margins, [[0, 0]]], axis=0),
        constant_values=tf.constant(background, tf.uint8),
    )


def _scaled(
    shape: tuple[int, int] | tf.Tensor,
    factor: tf.Tensor,
    largest: tuple[int, int] | tf.Tensor,
) -> tf.Tensor:
    """`shape` times `factor` in whole pixels, at least 1 and within `largest`."""
    scaled = tf.cast(tf.round(tf.cast(shape, tf.float64) * factor), tf.int32)
    return tf.clip_by_value(scaled, 1, largest)
