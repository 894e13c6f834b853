"""What the layers without scores refuse, and how they fit in where others do."""

import keras
import numpy as np
import pytest

from keras_attention import blocks, interpretation, layers, masks
from tests.backend import tensor, to_numpy

B, T, S, N, H, D = 2, 5, 7, 3, 4, 6

LINFORMER = {"max_sequence_length": 11, "projected_length": 3}


def linear(**options):
    return layers.LinearAttention(num_heads=N, key_dim=H, **options)


def performer(**options):
    return layers.PerformerAttention(num_heads=N, key_dim=H, num_features=13, **options)


def linformer(**options):
    return layers.LinformerAttention(num_heads=N, key_dim=H, **LINFORMER, **options)


each = pytest.mark.parametrize("make", [linear, performer, linformer])

REFUSED = [
    ({"return_attention_scores": True}, "has no attention scores: it never compares"),
    ({"attention_mask": np.ones((T, S), bool)}, "takes no `attention_mask`"),
    ({"attention_mask": np.ones((B, 1, S), bool)}, "takes no `attention_mask`"),
    ({"attention_bias": np.zeros((T, S))}, "takes no `attention_bias`"),
]


@each
@pytest.mark.parametrize(("options", "match"), REFUSED)
def test_what_stands_for_pairs_is_refused(make, options, match):
    layer = make()
    match = f"{type(layer).__name__} {match}"
    with pytest.raises(ValueError, match=match):
        layer(tensor(B, T, D), tensor(B, S, D), **options)
    with pytest.raises(ValueError, match=match):
        layer(keras.Input((T, D)), keras.Input((S, D)), **options)


@each
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"mask": masks.Local(3)}, "takes no `mask`: .*mask=Local"),
        ({"flash_attention": True}, "takes no `flash_attention`: it has one path"),
        ({"num_heads": 0}, "`num_heads` must be a positive integer"),
        ({"key_dim": -3}, "`key_dim` must be a positive integer"),
        ({"value_dim": 2.5}, "`value_dim` must be a positive integer"),
        ({"dropout": 1}, r"`dropout` must be a number in \[0, 1\)"),
    ],
)
def test_refused_arguments(make, options, match):
    sizes = {"num_heads": N, "key_dim": H}
    if make is linformer:
        sizes |= LINFORMER
    with pytest.raises(ValueError, match=match):
        type(make())(**{**sizes, **options})


@each
def test_none_is_not_refused(make):
    """So that code which passes the options of any layer on can make these too."""
    x = tensor(B, T, D)
    layer = make(mask=None, flash_attention=None)
    output = layer(x, x, attention_mask=None, attention_bias=None)
    assert tuple(output.shape) == (B, T, D)


@each
def test_dropout_drops_in_training_alone(make):
    x, layer = tensor(B, T, D), make(dropout=0.5, seed=1)
    plain = to_numpy(layer(x, x))
    np.testing.assert_array_equal(to_numpy(layer(x, x)), plain)
    assert not np.allclose(to_numpy(layer(x, x, training=True)), plain, atol=1e-3)


@each
def test_capture_says_why_there_are_no_scores(make):
    x = keras.Input((T, D))
    seen = layers.MultiHeadAttention(N, H, name="seen")
    model = keras.Model(x, seen(make(name="unseen")(x, x), x))
    record = interpretation.capture(model, tensor(B, T, D))
    assert record.names == ["seen"]
    assert "has no attention scores" in record.refused["unseen"]


@each
def test_an_encoder_block_takes_it_by_name(make):
    name = make.__name__
    options = {"linear": {}, "performer": {"num_features": 5}, "linformer": LINFORMER}
    block = blocks.TransformerEncoder(
        8, N, attention_dropout=0.1, attention=name, attention_options=options[name]
    )
    assert tuple(block(tensor(B, T, D)).shape) == (B, T, D)
