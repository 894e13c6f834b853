"""A quarter of the frames: shapes, padding at every length, values by hand."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import blocks
from tests.backend import mask_of, tensor, to_numpy, with_mask
from tests.contract import check_stays_in_padding

T, F, U, C = 11, 7, 5, 3
LENGTHS = np.arange(1, T + 1)
MASK = np.arange(T) < LENGTHS[:, None]


def make(**options):
    layer = blocks.ConvolutionalSubsampling(U, C, **options)
    layer.build((None, None, F))
    # Biases that are not 0 show in padding.
    noise = np.random.default_rng(0)
    layer.set_weights([w + noise.normal(size=w.shape) for w in layer.get_weights()])
    return layer


def convolved(x, kernel, bias):
    """A 3 x 3 convolution at every other place, and a ReLU: `(T, F, C)`."""
    x = np.pad(x, [(1, 1), (1, 1), (0, 0)])
    rows, columns = ((size - 1) // 2 for size in x.shape[:2])
    found = np.empty((rows, columns, kernel.shape[-1]))
    for i, j in np.ndindex(rows, columns):
        patch = x[2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
        found[i, j] = np.tensordot(patch, kernel, 3) + bias
    return np.maximum(found, 0)


@pytest.mark.parametrize("length", [1, 4, 11])
def test_is_two_convolutions_and_a_projection(length):
    layer = make()
    frames = tensor(1, length, F)
    x = to_numpy(frames)[0, :, :, None].astype("float64")
    *first, kernel, bias = (to_numpy(w) for w in layer.weights)
    x = convolved(convolved(x, *first[:2]), *first[2:])
    expected = x.reshape(len(x), -1) @ kernel + bias
    np.testing.assert_allclose(to_numpy(layer(frames))[0], expected, rtol=1e-4)


@pytest.mark.parametrize("given", ["argument", "hidden"])
def test_a_padded_clip_is_as_alone(given):
    """At every length: odd and even ones pad alike, short ones give one place."""
    layer, frames = make(), tensor(len(LENGTHS), T, F)
    if given == "argument":
        found = layer(frames, mask=MASK)
    else:
        found = layer(with_mask(frames, MASK))
    places = mask_of(found)
    found, frames = to_numpy(found), tensor(len(LENGTHS), T, F)
    assert found.shape == (len(LENGTHS), 3, U)
    for row, length in enumerate(LENGTHS):
        alone = to_numpy(layer(frames[row : row + 1, :length]))[0]
        count = -(-length // 4)
        assert alone.shape == (count, U)
        assert places[row].tolist() == [True] * count + [False] * (3 - count)
        np.testing.assert_allclose(found[row, :count], alone, rtol=1e-5, atol=1e-4)


def test_nan_in_padding_stays_there():
    layer, frames = make(), tensor(len(LENGTHS), T, F)
    check_stays_in_padding(layer, lambda x: layer(x, mask=MASK), [frames], [MASK])


def test_shapes_are_known_before():
    layer = make()
    for length, places in ((None, None), (11, 3), (12, 3), (1, 1)):
        output = layer(keras.Input((length, F)))
        assert output.shape == (None, places, U)
        assert length is None or layer.places(length) == places
    assert layer.compute_mask(None, None) is None


def test_parameters():
    weights = 9 * (C + C * C) + 2 * C + 2 * C * U + U  # 7 bands, 4, 2
    assert make().count_params() == weights


def test_half_precision_and_config():
    layer = make(dtype="mixed_bfloat16")
    output = layer(ops.ones((1, 5, F)))
    assert keras.backend.standardize_dtype(output.dtype) == "bfloat16"
    copy = blocks.ConvolutionalSubsampling.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0)])
def test_sizes_are_positive(sizes):
    with pytest.raises(ValueError, match="must be a positive integer"):
        blocks.ConvolutionalSubsampling(*sizes)
