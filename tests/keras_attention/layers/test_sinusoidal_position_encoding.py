"""The layer that adds sines and cosines."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import mask_of, tensor, to_numpy, with_mask
from tests.keras_attention.ops.test_positions import by_hand


def test_adds_the_encoding():
    x = tensor(2, 5, 7)
    found = to_numpy(layers.SinusoidalPositionEncoding()(x))
    expected = to_numpy(x) + by_hand(np.arange(5), 7)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_c31_odd_width():
    """C31: nothing is lost or doubled where the width is odd."""
    found = to_numpy(layers.SinusoidalPositionEncoding()(ops.zeros((1, 3, 5))))
    expected = [
        [0, 1, 0, 1, 0],
        [0.841471, 0.540302, 0.025116, 0.999685, 0.000631],
        [0.909297, -0.416147, 0.050217, 0.998739, 0.001262],
    ]
    np.testing.assert_allclose(found[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("policy", "length", "tolerance"),
    [("mixed_float16", 4001, 2e-3), ("bfloat16", 600, 1e-2)],
)
def test_c32_half_precision_keeps_positions_apart(policy, length, tolerance):
    """C32: angles are float32; only the sum is rounded."""
    layer = layers.SinusoidalPositionEncoding(dtype=policy)
    output = layer(ops.zeros((1, length, 8)))
    assert keras.backend.standardize_dtype(output.dtype) == layer.compute_dtype
    found = to_numpy(output)[0]
    assert np.abs(found - by_hand(np.arange(length), 8)).max() <= tolerance
    if length > 2049:
        assert found[2048, 0] == pytest.approx(-0.313057, abs=tolerance)
        assert found[2049, 0] == pytest.approx(0.630028, abs=tolerance)
    assert (found[256] != found[257]).any()


def test_c18_mask_is_carried():
    """C18: the sum keeps the mask, which a bare `+` in Keras loses."""
    keras.utils.set_random_seed(1)
    embedding = keras.layers.Embedding(9, 8, mask_zero=True)
    attention = layers.MultiHeadAttention(2, 4)
    for encoding in (layers.SinusoidalPositionEncoding(), layers.PositionEmbedding(4)):

        def encoded(ids, encoding=encoding):
            x = encoding(embedding(np.array(ids)))
            return x, to_numpy(attention(x, x))

        x, padded = encoded([[3, 4, 0, 0]])
        assert mask_of(x).tolist() == [[True, True, False, False]]
        _, short = encoded([[3, 4]])
        np.testing.assert_allclose(padded[:, :2], short, atol=1e-5)


def test_start_index_continues_the_sequence():
    layer, x = layers.SinusoidalPositionEncoding(), tensor(2, 5, 6)
    whole = to_numpy(layer(x))
    for start in (3, ops.convert_to_tensor(3, "int32")):
        rest = to_numpy(layer(x[:, 3:], start_index=start))
        np.testing.assert_allclose(rest, whole[:, 3:], atol=1e-6)


def test_input_mask_stays():
    x = with_mask(tensor(1, 3, 4), np.array([[True, True, False]]))
    layers.SinusoidalPositionEncoding()(x)
    assert mask_of(x).tolist() == [[True, True, False]]


def test_wavelength_is_positive():
    with pytest.raises(ValueError, match="`max_wavelength` must be positive"):
        layers.SinusoidalPositionEncoding(max_wavelength=0)
