"""Images as sequences of patches."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from tests.backend import compiled, tensor, tensorflow_only, to_numpy


def by_hand(images, kernel, bias):
    """Patch by patch, row by row: `W vec(patch) + b`."""
    p, q, _, _ = kernel.shape
    _, height, width, _ = images.shape
    patches = [
        np.tensordot(images[:, i : i + p, j : j + q], kernel, axes=3) + bias
        for i in range(0, height, p)
        for j in range(0, width, q)
    ]
    return np.stack(patches, axis=1)


def pixels(patch_size, channels=1, **options):
    """A layer whose vectors are the pixels of their patch."""
    size = patch_size * patch_size * channels
    layer = layers.PatchEmbedding(patch_size, size, use_bias=False, **options)
    layer.build((None, None, None, channels))
    layer.set_weights([np.eye(size).reshape(patch_size, patch_size, channels, size)])
    return layer


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_is_a_projection_of_each_patch(data_format):
    layer = layers.PatchEmbedding((2, 3), 13, data_format=data_format)
    images = tensor(2, 10, 21, 5)
    first = data_format == "channels_first"
    found = layer(keras.ops.transpose(images, (0, 3, 1, 2)) if first else images)
    kernel, _ = layer.get_weights()
    bias = np.arange(13, dtype="float32")
    layer.set_weights([kernel, bias])
    expected = by_hand(to_numpy(images), kernel, bias)
    assert expected.shape == (2, 35, 13)
    # Until now the bias was 0. Sums of 30 products in another order.
    np.testing.assert_allclose(to_numpy(found), expected - bias, atol=1e-5)
    found = layer(keras.ops.transpose(images, (0, 3, 1, 2)) if first else images)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-5)


def test_c64_order_of_the_patches():
    image = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    assert to_numpy(pixels(2)(image))[0].tolist() == [
        [0, 1, 4, 5],
        [2, 3, 6, 7],
        [8, 9, 12, 13],
        [10, 11, 14, 15],
    ]


@pytest.mark.parametrize(
    ("image_size", "patch_size", "named"),
    [
        ((5, 5), 2, r"image_size=\(5, 5\), patch_size=\(2, 2\)"),
        ((30, 32), 16, r"image_size=\(30, 32\), patch_size=\(16, 16\)"),
        ((32, 30), 16, r"image_size=\(32, 30\), patch_size=\(16, 16\)"),
        ((4, 6), (6, 4), r"image_size=\(4, 6\), patch_size=\(6, 4\)"),
    ],
)
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_c64_an_image_that_patches_do_not_fill(
    image_size, patch_size, named, data_format
):
    layer = layers.PatchEmbedding(patch_size, 8, data_format=data_format)
    first = data_format == "channels_first"
    shape = (3, *image_size) if first else (*image_size, 3)
    for images in (tensor(1, *shape), keras.Input(shape)):
        with pytest.raises(ValueError, match=f"must divide the height.*{named}"):
            layer(images)


def test_c64_what_is_known_of_the_size_is_checked():
    layer = layers.PatchEmbedding(16, 8)
    with pytest.raises(ValueError, match=r"image_size=\(30, None\)"):
        layer(keras.Input((30, None, 3)))
    model = keras.Model(images := keras.Input((None, None, 3)), layer(images))
    assert model.output_shape == (None, None, 8)
    assert tuple(model(tensor(2, 32, 48, 3)).shape) == (2, 6, 8)
    with pytest.raises(ValueError, match=r"image_size=\(30, 32\)"):
        model(tensor(2, 30, 32, 3))


@tensorflow_only
@pytest.mark.parametrize("shape", [(1, 30, 32, 3), (1, 32, 31, 3)])
def test_c64_a_size_that_only_the_running_graph_knows(shape):
    import tensorflow as tf

    layer = layers.PatchEmbedding(16, 8)
    layer.build((None, None, None, 3))
    spec = tf.TensorSpec((None, None, None, 3))
    run = tf.function(layer, input_signature=[spec])
    fitting = tensor(1, 32, 48, 3)
    np.testing.assert_allclose(run(fitting), layer(fitting), atol=1e-5)
    named = rf"must divide the height.*image_size=.*\[{shape[1]} {shape[2]}\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){named}.*16 16"):
        run(tensor(*shape))


def test_no_images():
    assert tuple(layers.PatchEmbedding(2, 3)(np.zeros((0, 4, 6, 1))).shape) == (0, 6, 3)


def test_starts_about_as_large_as_the_pixels():
    found = layers.PatchEmbedding(4, 500)(tensor(50, 8, 8, 1))
    assert 0.9 < to_numpy(found).std() < 1.1


def test_follows_the_data_format_of_keras():
    before = keras.config.image_data_format()
    keras.config.set_image_data_format("channels_first")
    try:
        layer = layers.PatchEmbedding(2, 3)
    finally:
        keras.config.set_image_data_format(before)
    assert layer.data_format == "channels_first"
    assert tuple(layer(tensor(1, 5, 4, 6)).shape) == (1, 6, 3)


def test_compiled_is_as_eager():
    layer, images = layers.PatchEmbedding(2, 13), tensor(3, 4, 6, 5)
    expected = to_numpy(layer(images))
    np.testing.assert_allclose(to_numpy(compiled(layer)(images)), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"patch_size": 0}, "`patch_size` must be a positive integer"),
        ({"patch_size": (2, 3, 4)}, "`patch_size` must be an integer or two"),
        ({"hidden_dim": -1}, "`hidden_dim` must be a positive integer"),
        ({"data_format": "last"}, "`data_format` must be one of"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        layers.PatchEmbedding(**{"patch_size": 2, "hidden_dim": 3, **options})


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_unknown_channels_are_refused(data_format):
    shape = (4, 6, None) if data_format == "channels_last" else (None, 4, 6)
    with pytest.raises(ValueError, match="The number of channels must be known"):
        layers.PatchEmbedding(2, 3, data_format=data_format)(keras.Input(shape))


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_pixels_of_integers_are_as_of_floats(dtype):
    layer, pixels = layers.PatchEmbedding(2, 3), np.arange(48).reshape(1, 4, 4, 3)
    expected = to_numpy(layer(pixels.astype("float32")))
    found = layer(keras.ops.convert_to_tensor(pixels, dtype=dtype))
    np.testing.assert_array_equal(to_numpy(found), expected)


def test_inputs_are_images():
    with pytest.raises(ValueError, match=r"must be images, .*shape=\(2, 4, 6\)"):
        layers.PatchEmbedding(2, 3)(tensor(2, 4, 6))
