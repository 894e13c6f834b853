import keras
import numpy as np
import pytest

from keras_attention import blocks
from tests.backend import mask_of, tensor, to_numpy, with_mask

B, T, D, F = 2, 5, 7, 11


def test_parity_with_numpy():
    layer = blocks.FeedForward(F)
    x = tensor(B, T, D)
    y = to_numpy(layer(x))
    expand, expand_bias, contract, contract_bias = layer.get_weights()
    hidden = np.maximum(to_numpy(x) @ expand + expand_bias, 0)
    np.testing.assert_allclose(y, hidden @ contract + contract_bias, atol=1e-5)


def test_parameters():
    layer = blocks.FeedForward(F)
    layer(tensor(B, T, D))
    assert layer.count_params() == 2 * D * F + D + F


def test_dropout_only_in_training():
    layer, plain = blocks.FeedForward(F, dropout=0.5), blocks.FeedForward(F)
    x = tensor(B, T, D)
    layer(x), plain(x)
    plain.set_weights(layer.get_weights())
    expected = to_numpy(plain(x))
    np.testing.assert_array_equal(to_numpy(layer(x)), expected)
    assert np.abs(to_numpy(layer(x, training=True)) - expected).max() > 1e-3


def test_static_shape():
    assert blocks.FeedForward(F)(keras.Input((None, D))).shape == (None, None, D)


def test_carries_the_mask():
    mask = np.array([[True, False]])
    y = blocks.FeedForward(F)(with_mask(tensor(1, 2, D), mask))
    np.testing.assert_array_equal(mask_of(y), mask)


def test_config_round_trip():
    layer = blocks.FeedForward(F, activation="gelu", dropout=0.25, name="mine")
    config = keras.saving.serialize_keras_object(layer)
    assert config["registered_name"] == "keras_attention>FeedForward"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == layer.get_config()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"intermediate_dim": 0}, "`intermediate_dim` must be a positive integer"),
        ({"intermediate_dim": F, "dropout": 1.0}, "`dropout`"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        blocks.FeedForward(**options)
