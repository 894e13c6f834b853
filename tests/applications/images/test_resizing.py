import functools

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from applications.images.resizing import resize

ASPECTS = ("crop", "pad", "stretch")


def image(height, width, channels=3):
    shape = (height, width, channels)
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def resized(pixels, size, aspect):
    """Eager, and in a graph that does not know the size before: the same."""
    eager = resize(tf.constant(pixels), size, aspect)
    in_graph = graph(size, aspect, pixels.shape[-1])
    assert in_graph.get_concrete_function().output_shapes == (*size, pixels.shape[-1])
    np.testing.assert_array_equal(in_graph(pixels), eager)
    assert eager.dtype == tf.uint8
    return eager.numpy()


@functools.cache
def graph(size, aspect, channels):
    """One for images of every size."""
    signature = [tf.TensorSpec((None, None, channels), tf.uint8)]
    return tf.function(lambda x: resize(x, size, aspect), input_signature=signature)


@pytest.mark.parametrize("aspect", ASPECTS)
def test_the_right_size_is_not_touched(aspect):
    pixels = image(5, 7)
    np.testing.assert_array_equal(resized(pixels, (5, 7), aspect), pixels)


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 97), (61, 2), (23, 29)])
@pytest.mark.parametrize("channels", [1, 3])
def test_any_size_becomes_the_one_asked_for(aspect, shape, channels):
    pixels = np.full((*shape, channels), 255, np.uint8)
    output = resized(pixels, (11, 13), aspect)
    assert output.shape == (11, 13, channels)
    assert np.all(output == 255)


def test_stretch_shrinks_smoothly():
    """PIL shrinks with the same filter, to a rounding; a choice of pixels does not."""
    pixels = image(40, 60)
    expected = Image.fromarray(pixels).resize((12, 10), Image.Resampling.BILINEAR)
    output = resized(pixels, (10, 12), "stretch")
    np.testing.assert_allclose(output, np.asarray(expected, int), atol=1)
    nearest = tf.image.resize(pixels, (10, 12), antialias=False)
    assert np.abs(output - nearest.numpy()).mean() > 10


def test_crop_takes_the_middle_of_the_longer_side():
    pixels = image(10, 16)
    expected = resized(pixels[:, 3:13], (5, 5), "stretch")
    np.testing.assert_array_equal(resized(pixels, (5, 5), "crop"), expected)
    turned = pixels.transpose(1, 0, 2)
    np.testing.assert_array_equal(
        resized(turned, (5, 5), "crop"), resized(turned[3:13], (5, 5), "stretch")
    )
    wide = resized(pixels[3:7], (5, 20), "stretch")
    np.testing.assert_array_equal(resized(pixels, (5, 20), "crop"), wide)


def test_pad_shows_all_on_the_ground_it_is_given():
    output = resize(tf.constant(image(8, 4)), (8, 8), "pad", 7).numpy()
    assert np.all(output[:, [0, 1, 6, 7]] == 7)
    np.testing.assert_array_equal(output[:, 2:6], image(8, 4))


def test_pad_shows_all_on_white():
    pixels = image(8, 16)
    output = resized(pixels, (8, 8), "pad")
    np.testing.assert_array_equal(output[2:6], resized(pixels, (4, 8), "stretch"))
    assert np.all(output[:2] == 255)
    assert np.all(output[6:] == 255)
    tall = resized(pixels.transpose(1, 0, 2), (8, 8), "pad")
    np.testing.assert_array_equal(tall, output.transpose(1, 0, 2))
