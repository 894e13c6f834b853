"""Shapes of images and the scale of their pixels."""

import keras
import numpy as np
import pytest

from keras_attention.models._images import image_shape, rescaling
from tests.backend import to_numpy


def test_pixels_are_scaled_in_float32():
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        layer = rescaling()
    finally:
        keras.config.set_dtype_policy("float32")
    scaled = layer(np.array([0, 51, 255], "uint8"))
    np.testing.assert_allclose(to_numpy(scaled), [-1, -0.6, 1], atol=1e-6)


def test_shapes():
    assert image_shape([8, 12, 3]) == (8, 12, 3)
    assert image_shape((None, 12, 3), any_size=True) == (None, 12, 3)


@pytest.mark.parametrize(
    ("shape", "any_size", "words"),
    [
        ((8, 12), False, r"must be \(height, width, channels\)"),
        (8, False, r"must be \(height, width, channels\)"),
        ((None, 12, 3), False, "must be a positive integer"),
        ((8, 12, None), True, "must be a positive integer"),
        ((0, 12, 3), True, "must be a positive integer"),
    ],
)
def test_others_are_refused(shape, any_size, words):
    with pytest.raises(ValueError, match=f"`input_shape` {words}"):
        image_shape(shape, any_size)
