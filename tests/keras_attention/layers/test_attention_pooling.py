"""Pooling by one learned query."""

import numpy as np
from keras import ops

from keras_attention import layers
from tests.backend import mask_of, tensor, to_numpy, with_mask

B, S, D = 2, 5, 7


def test_equals_its_formula():
    x = tensor(B, S, D)
    layer = layers.AttentionPooling()
    output, scores = layer(x, return_attention_scores=True)
    (query,) = layer.get_weights()
    numbers = to_numpy(x).astype("float64")
    exponentials = np.exp(numbers @ query)
    expected = exponentials / exponentials.sum(-1, keepdims=True)
    np.testing.assert_allclose(to_numpy(scores), expected, atol=1e-6)
    np.testing.assert_allclose(
        to_numpy(output), np.einsum("bs,bsd->bd", expected, numbers), atol=1e-6
    )


def test_padding_is_as_if_it_were_not_there():
    x, layer = tensor(B, S, D), layers.AttentionPooling()
    short = to_numpy(layer(x[:, :3]))
    mask = np.arange(S)[None] < np.full((B, 1), 3)
    np.testing.assert_allclose(to_numpy(layer(x, mask=mask)), short, atol=1e-6)
    hidden = with_mask(x, mask)
    np.testing.assert_allclose(to_numpy(layer(hidden)), short, atol=1e-6)


def test_c22_empty_sequence_is_zero():
    """C22: no real position gives 0, and says nothing about the other rows."""
    x, layer = tensor(B, S, D), layers.AttentionPooling()
    mask = np.zeros((B, S), bool)
    mask[1] = True
    output, scores = layer(x, mask=mask, return_attention_scores=True)
    assert (to_numpy(output)[0] == 0).all()
    assert (to_numpy(scores)[0] == 0).all()
    np.testing.assert_allclose(
        to_numpy(output)[1], to_numpy(layer(x[1:]))[0], atol=1e-6
    )


def test_output_has_no_mask():
    x = with_mask(tensor(B, S, D), ops.ones((B, S), "bool"))
    assert mask_of(layers.AttentionPooling()(x)) is None
