"""Pooling by learned queries."""

import numpy as np
import pytest
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


K, N, H = 3, 2, 4


def random_weights(layer, x):
    """Build `layer` and give it weights of an initializer's size, biases included."""
    layer(x)
    random = np.random.default_rng(1)
    layer.set_weights([0.3 * random.normal(size=x.shape) for x in layer.get_weights()])
    return layer


def test_defaults_have_one_weight():
    layer = layers.AttentionPooling()
    layer(tensor(B, S, D))
    assert [(x.name, tuple(x.shape)) for x in layer.weights] == [("query", (D,))]


def test_several_queries_are_several_poolings():
    x = tensor(B, S, D)
    layer = random_weights(layers.AttentionPooling(num_queries=K), x)
    output, scores = layer(x, return_attention_scores=True)
    assert tuple(output.shape) == (B, K, D)
    (queries,) = layer.get_weights()
    one = layers.AttentionPooling()
    one(x)
    for index, query in enumerate(queries):
        one.set_weights([query])
        expected, expected_scores = one(x, return_attention_scores=True)
        found = to_numpy(output)[:, index], to_numpy(scores)[:, index]
        np.testing.assert_allclose(found[0], to_numpy(expected), atol=1e-6)
        np.testing.assert_allclose(found[1], to_numpy(expected_scores), atol=1e-6)


@pytest.mark.parametrize("num_queries", [1, K])
def test_several_heads_equal_their_formula(num_queries):
    x = tensor(B, S, D)
    layer = random_weights(layers.AttentionPooling(num_queries, N, H), x)
    mask = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], bool)
    output, scores = layer(x, mask=mask, return_attention_scores=True)

    numbers = to_numpy(x).astype("float64") * mask[..., None]
    inner = layer.attention
    (wq, bq), (wk, bk), (wv, bv), (wo, bo) = (
        [to_numpy(weight) for weight in dense.weights]
        for dense in (
            inner.query_dense,
            inner.key_dense,
            inner.value_dense,
            inner.output_dense,
        )
    )
    queries = to_numpy(layer.query).reshape(num_queries, D)
    query = np.einsum("kd,dnh->nkh", queries, wq) + bq[:, None]
    key = np.einsum("bsd,dnh->bnsh", numbers, wk) + bk[:, None]
    value = np.einsum("bsd,dnh->bnsh", numbers, wv) + bv[:, None]
    exponentials = np.exp(query @ key.swapaxes(-1, -2) / np.sqrt(H))
    exponentials *= mask[:, None, None]
    expected_scores = exponentials / exponentials.sum(-1, keepdims=True)
    expected = np.einsum("bnks,bnsh,nhd->bkd", expected_scores, value, wo) + bo
    if num_queries == 1:
        expected, expected_scores = expected[:, 0], expected_scores[:, :, 0]
    assert tuple(output.shape) == expected.shape
    np.testing.assert_allclose(to_numpy(output), expected, atol=1e-5)
    np.testing.assert_allclose(to_numpy(scores), expected_scores, atol=1e-6)


def test_heads_share_the_size_by_default():
    layer = layers.AttentionPooling(num_heads=N)
    layer(tensor(B, S, 6))
    assert layer.attention.key_dim == 3
    # 4 D N H + 3 N H + D for the projections, k D for the query
    assert layer.count_params() == 4 * 36 + 3 * 6 + 6 + 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_queries": 0}, "`num_queries` must be a positive integer"),
        ({"num_heads": -1}, "`num_heads` must be a positive integer"),
        ({"num_heads": 2, "key_dim": 0}, "`key_dim` must be a positive integer"),
        ({"key_dim": 3}, "`key_dim` needs several heads"),
        ({"num_heads": 2}, "`num_heads` must divide the size of the inputs"),
    ],
)
def test_wrong_arguments_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        layers.AttentionPooling(**options)(tensor(B, S, D))
