import numpy as np
import pytest
from keras import ops

from keras_attention import layers, masks
from tests.backend import tensor, to_numpy

B, h, w, C, N, H = 2, 3, 5, 7, 2, 4


def built(**options):
    layer = layers.FeatureMapAttention(N, H, **options)
    layer(tensor(B, h, w, C))
    return layer


def flat(layer):
    """Attention over the positions in a row, with the weights of `layer`."""
    attention = layers.MultiHeadAttention(N, H, mask=layer.mask)
    x = tensor(B, h * w, C)
    attention(x, x)
    attention.set_weights(layer.get_weights())
    return attention


@pytest.mark.parametrize("mask", [None, masks.Block(w)])
def test_equals_attention_over_all_positions(mask):
    x, layer = tensor(B, h, w, C), built(mask=mask)
    output, scores = layer(x, return_attention_scores=True)
    row = ops.reshape(x, (B, h * w, C))
    expected, weights = flat(layer)(row, row, return_attention_scores=True)
    found = to_numpy(output).reshape(B, h * w, C)
    np.testing.assert_allclose(found, to_numpy(expected), atol=1e-6)
    assert tuple(scores.shape) == (B, N, h, w, h, w)
    found = to_numpy(scores).reshape(B, N, h * w, h * w)
    np.testing.assert_allclose(found, to_numpy(weights), atol=1e-6)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_the_past_is_what_stands_before_row_by_row(data_format):
    is_first = data_format == "channels_first"
    x = tensor(B, h, w, C)
    inputs = ops.moveaxis(x, -1, 1) if is_first else x
    causal, masked = (
        layers.FeatureMapAttention(N, H, data_format=data_format, **options)
        for options in ({}, {"mask": masks.Causal()})
    )
    options = {"use_causal_mask": True, "return_attention_scores": True}
    output, scores = causal(inputs, **options)
    future = np.triu(np.ones((h * w, h * w), bool), 1)
    found = to_numpy(scores).reshape(B, N, h * w, h * w)
    assert (found[..., future] == 0).all()
    assert (found[..., ~future] > 0).all()
    masked(inputs)
    masked.set_weights(causal.get_weights())
    np.testing.assert_allclose(to_numpy(output), to_numpy(masked(inputs)), atol=1e-6)


def test_each_position_shares_itself_out_over_the_map():
    mask = np.ones((B, h, w), bool)
    mask[0, 1:], mask[:, :, 3] = False, False
    _, scores = built()(tensor(B, h, w, C), mask=mask, return_attention_scores=True)
    sums = to_numpy(scores).sum((-2, -1))
    expected = np.broadcast_to(mask[:, None], sums.shape)
    np.testing.assert_allclose(sums, expected, atol=1e-6)
    assert (np.moveaxis(to_numpy(scores), (4, 5), (1, 2))[~mask] == 0).all()


def test_rows_and_columns_turn_the_heads():
    """Rotary scores depend on distances: a pattern moved with its query looks alike."""
    x = np.zeros((1, h, w, C), "float32")
    x[:] = np.arange(C)  # the same everywhere: only positions differ
    layer = built(rotary_grid=(h, w))
    _, scores = layer(ops.convert_to_tensor(x), return_attention_scores=True)
    logits = np.log(to_numpy(scores))[0, 0]
    from_first = logits[0, 0, :2, :3] - logits[0, 0, 0, 0]
    from_second = logits[1, 2, 1:3, 2:5] - logits[1, 2, 1, 2]
    np.testing.assert_allclose(from_first, from_second, atol=1e-4)
    assert np.abs(from_first[1, 0]) > 1e-4  # a row away
    assert np.abs(from_first[0, 1]) > 1e-4  # a column away
    without = built()(ops.convert_to_tensor(x), return_attention_scores=True)[1]
    np.testing.assert_allclose(to_numpy(without), 1 / (h * w), atol=1e-6)


def test_options_reach_the_attention():
    layer = built(dropout=0.1, seed=3, attention_options={"num_key_value_heads": 1})
    attention = layer.attention
    assert (attention.dropout, attention.seed) == (0.1, 3)
    assert attention.num_key_value_heads == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_heads": 0}, "`num_heads` must be a positive integer"),
        ({"key_dim": 0}, "`key_dim` must be a positive integer"),
        ({"dropout": 1}, "`dropout` must be a number in"),
        ({"rotary_grid": 3}, "`grid` must be"),
        ({"rotary_grid": (h, w + 1)}, "one position for each place of the `grid`"),
        ({"attention_options": {"output_shape": 3}}, "takes no `output_shape`"),
    ],
)
def test_wrong_arguments(options, words):
    sizes = {"num_heads": N, "key_dim": H}
    with pytest.raises(ValueError, match=words):
        layers.FeatureMapAttention(**{**sizes, **options})(tensor(B, h, w, C))
