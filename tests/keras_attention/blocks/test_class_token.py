"""A learned vector in front of a sequence."""

import keras
import numpy as np
import pytest

from keras_attention import blocks, layers
from tests.backend import mask_of, tensor, to_numpy, with_mask

B, T, D = 2, 5, 7


def test_stands_before_every_row():
    layer, x = blocks.ClassToken(), tensor(B, T, D)
    layer.build((None, None, D))
    token = np.arange(D, dtype="float32")
    layer.set_weights([token])
    found = to_numpy(layer(x))
    assert found.shape == (B, 1 + T, D)
    np.testing.assert_array_equal(found[:, 0], np.tile(token, (B, 1)))
    np.testing.assert_array_equal(found[:, 1:], to_numpy(x))


def test_the_token_is_real():
    mask = np.array([[True, True, False, False, False], [True] * 5])
    found = mask_of(blocks.ClassToken()(with_mask(tensor(B, T, D), mask)))
    np.testing.assert_array_equal(found, np.insert(mask, 0, True, axis=1))
    assert mask_of(blocks.ClassToken()(tensor(B, T, D))) is None


def test_mask_in_a_functional_model():
    ids = keras.Input((None,), dtype="int32")
    x = blocks.ClassToken()(keras.layers.Embedding(9, D, mask_zero=True)(ids))
    model = keras.Model(ids, layers.MaskedMeanPooling()(x))
    assert x.shape == (None, None, D)
    padded, alone = (to_numpy(model(np.array([row]))) for row in ([3, 4, 0, 0], [3, 4]))
    np.testing.assert_allclose(padded, alone, atol=1e-6)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "float16"])
def test_has_the_precision_of_the_inputs(dtype):
    layer = blocks.ClassToken(dtype=dtype)
    found = layer(tensor(B, T, D)).dtype
    assert keras.backend.standardize_dtype(found) == layer.compute_dtype


def test_config_round_trip():
    layer = blocks.ClassToken("he_normal", name="mine", dtype="mixed_bfloat16")
    config = keras.saving.serialize_keras_object(layer)
    assert config["registered_name"] == "keras_attention>ClassToken"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == layer.get_config()
