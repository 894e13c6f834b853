"""The layer that turns heads by their positions."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.layers.rotary_embedding import rotary_layer
from tests.backend import tensor, to_numpy
from tests.keras_attention.ops.test_positions import turned_by_hand


@pytest.mark.parametrize("interleaved", [False, True])
def test_turns_every_head(interleaved):
    x = tensor(2, 5, 3, 10)
    layer = layers.RotaryEmbedding(50.0, interleaved=interleaved)
    found = to_numpy(layer(x))
    for batch, head in np.ndindex(2, 3):
        expected = turned_by_hand(
            to_numpy(x)[batch, :, head], np.arange(5), 50.0, interleaved
        )
        np.testing.assert_allclose(found[batch, :, head], expected, atol=2e-6)


def test_start_index_continues_the_sequence():
    layer, x = layers.RotaryEmbedding(), tensor(2, 7, 3, 6)
    whole = to_numpy(layer(x))
    for start in (3, ops.convert_to_tensor(3, "int32")):
        rest = to_numpy(layer(x[:, 3:], start_index=start))
        np.testing.assert_allclose(rest, whole[:, 3:], atol=1e-6)


def test_positions_may_be_given_by_sequence():
    """As for left-padded batches, whose sequences begin at different places."""
    layer, x = layers.RotaryEmbedding(), tensor(2, 5, 3, 6)
    at = np.array([[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]], "int32")
    found = to_numpy(layer(x, positions=at))
    np.testing.assert_allclose(found[0], to_numpy(layer(x))[0], atol=1e-6)
    expected = to_numpy(layer(x, start_index=7))[1]
    np.testing.assert_allclose(found[1], expected, atol=1e-6)


def test_c32_half_precision_keeps_positions_apart():
    """C32: bfloat16 positions would be the same from 257 on."""
    x = np.ones((1, 600, 1, 8), "float32")
    found = to_numpy(layers.RotaryEmbedding(dtype="bfloat16")(x))[0, :, 0]
    expected = turned_by_hand(np.ones((600, 8)), np.arange(600))
    assert np.abs(found - expected).max() <= 1e-2
    assert (np.abs(np.diff(found[:, 0])) > 1e-2).mean() > 0.9


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"max_wavelength": 0}, "`max_wavelength` must be positive"),
        ({"scaling": -1.0}, "`scaling` must be positive.*scaling=-1.0"),
        ({"scaling_type": "yarn"}, "`scaling_type` must be one of 'linear', 'ntk'"),
    ],
)
def test_refused_arguments(options, match):
    with pytest.raises(ValueError, match=match):
        layers.RotaryEmbedding(**options)


def test_an_odd_head_size_is_refused():
    with pytest.raises(ValueError, match=r"must be a multiple of 2 .*size=5"):
        layers.RotaryEmbedding()(tensor(1, 2, 3, 5))


# ----------------------------------------------------- the argument of attention layers


def test_the_argument_has_four_forms():
    mine = layers.RotaryEmbedding(500.0)
    serialized = keras.saving.serialize_keras_object(mine)
    for form in ({"max_wavelength": 500.0}, mine, serialized):
        assert rotary_layer(form, 4).max_wavelength == 500.0
    assert rotary_layer(True, 4).max_wavelength == 10_000.0
    assert rotary_layer(None, 5) is rotary_layer(False, 5) is None


@pytest.mark.parametrize(
    ("rotary", "size", "match"),
    [
        ("yes", 4, "`rotary` must be True, a dict of arguments of"),
        (True, 5, "must be a multiple of 2"),
        (layers.RotaryEmbedding2D(), 6, "must be a multiple of 4"),
    ],
)
def test_other_forms_are_refused(rotary, size, match):
    with pytest.raises(ValueError, match=match):
        rotary_layer(rotary, size)
