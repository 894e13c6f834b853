"""Layers by name."""

import keras
import pytest

from keras_attention import layers
from tests.catalogue import ROWS


def test_get_makes_the_layer_with_its_options():
    layer = layers.get("multi_head", num_heads=2, key_dim=3, name="mine")
    assert isinstance(layer, layers.MultiHeadAttention)
    assert (layer.num_heads, layer.name) == (2, "mine")


def test_unknown_name_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"must be one of 'additive', .*='multi'"):
        layers.get("multi")


def test_registry_is_a_copy():
    layers.registry().clear()
    assert layers.registry()


# Names of the papers, which everybody knows them by.
SHORT = {
    "bam": "bottleneck",
    "cbam": "convolutional_block",
    "sc_se": "concurrent_squeeze_excitation",
}


@pytest.mark.parametrize("name", layers.registry())
def test_names_follow_the_classes(name):
    cls = layers.registry()[name]
    assert issubclass(cls, keras.layers.Layer)
    words = "".join(word.capitalize() for word in SHORT.get(name, name).split("_"))
    words = words.removesuffix("2d") + "2D" * words.endswith("2d")  # as in `Conv2D`
    assert cls.__name__ in (words, f"{words}Attention")


def test_causal_multi_head_layers_are_those_that_show_no_future():
    """Of the layers of heads, those whose row does not switch the property off."""
    heads = {"multi_head", "talking_heads", "relative_position", "block_summary"}
    heads |= {"linear", "performer", "linformer"}
    off = {row.layer for row in ROWS if "no_path_sees_the_future" in row.off}
    assert set(layers.causal_multi_head()) == heads - off == heads - {"linformer"}
    assert set(layers.multi_head()) < set(layers.causal_multi_head())
