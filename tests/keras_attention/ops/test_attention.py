"""`attend` against NumPy float64 and torch, the choice of path, and what it refuses."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import masks
from keras_attention.ops import attend
from keras_attention.ops._backend import has_fused_attention
from tests.backend import (
    jax_only,
    tensor,
    tensorflow_only,
    to_numpy,
    torch_only,
    value_and_gradients,
)
from tests.keras_attention.ops.test_scores import REFERENCES, WEIGHTS

B, T, S, N, H, V = 2, 5, 7, 3, 11, 13

needs_fused_kernel = pytest.mark.skipif(
    not has_fused_attention(*[tensor(1, 1)] * 2),
    reason="this backend has no fused kernel on this device",
)


def inputs(key_heads=N, key_size=H):
    return [
        tensor(B, T, N, H, seed=1),
        tensor(B, S, key_heads, key_size, seed=2),
        tensor(B, S, key_heads, V, seed=3),
    ]


def by_hand(query, key, value, score="scaled_dot", weights=(), mask=None, bias=0.0):
    """Output and scores in float64."""
    query, key, value, *weights = (
        to_numpy(x).astype("float64") for x in (query, key, value, *weights)
    )
    heads_first = [x.transpose(0, 2, 1, 3) for x in (query, key)]
    logits = REFERENCES[score](*heads_first, *weights) + bias
    mask = np.ones((T, S), bool) if mask is None else mask
    numbers = np.where(mask, np.exp(logits - logits.max(-1, keepdims=True)), 0)
    total = numbers.sum(-1, keepdims=True)
    scores = np.divide(numbers, total, out=np.zeros_like(numbers), where=total > 0)
    return np.einsum("bnts,bsnv->btnv", scores, value), scores


@pytest.mark.parametrize("score", REFERENCES)
def test_equals_its_formula(score):
    tensors = inputs(key_size=13 if score == "general" else H)
    weights = tuple(WEIGHTS.get(score, ()))
    expected, expected_scores = by_hand(*tensors, score, weights)
    for path in ("dense", "blockwise"):
        found = attend(
            *tensors, score=score, score_weights=weights, implementation=path
        )
        np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-5, atol=1e-5)
    _, scores = attend(
        *tensors, score=score, score_weights=weights, return_attention_scores=True
    )
    np.testing.assert_allclose(to_numpy(scores), expected_scores, atol=1e-5)


@pytest.mark.parametrize("shape", [(T, S), (B, T, S), (B, N, T, S), (B, 1, 1, S)])
def test_masks_and_bias_of_every_shape(shape):
    mask = np.random.default_rng(0).integers(0, 2, shape).astype(bool)
    bias = to_numpy(tensor(*shape, seed=7))
    if len(shape) == 3:  # a bias of three axes is (N, T, S)
        bias = to_numpy(tensor(N, T, S, seed=7))
    wide = mask[:, None] if len(shape) == 3 else mask
    expected, _ = by_hand(*inputs(), mask=wide, bias=bias)
    for path in ("dense", "blockwise"):
        found = attend(*inputs(), mask=mask, bias=bias, implementation=path)
        np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-5, atol=2e-6)


def test_fewer_key_heads_serve_groups_of_query_heads():
    query, key, value = tensor(B, T, 6, H), tensor(B, S, 2, H), tensor(B, S, 2, V)
    wide = [ops.repeat(x, 3, axis=2) for x in (key, value)]
    expected = to_numpy(attend(query, *wide))
    for path in ("dense", "blockwise"):
        found = to_numpy(attend(query, key, value, implementation=path))
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_variables_are_taken_as_tensors():
    """A layer's own weights, and a trainable bias."""
    bias = keras.Variable(to_numpy(tensor(T, S)))
    scale = keras.Variable(to_numpy(tensor(H)))
    options = {"score": "additive", "bias": bias, "score_weights": (scale,)}
    expected = to_numpy(attend(*inputs(), implementation="dense", **options))
    found = to_numpy(attend(*inputs(), implementation="blockwise", **options))
    np.testing.assert_allclose(found, expected, atol=1e-6)


# ----------------------------------------------------------------------- named failures


def zeros(query_length, key_length):
    """Queries and keys that score alike, and values that name their position."""
    values = ops.convert_to_tensor(np.eye(key_length, dtype="float32")[None, :, None])
    return ops.zeros((1, query_length, 1, 2)), ops.zeros((1, key_length, 1, 2)), values


def weights_of(query_length, key_length, **options):
    """The scores, read from the output of unit vectors on every path."""
    tensors = zeros(query_length, key_length)
    _, scores = attend(*tensors, return_attention_scores=True, **options)
    for path in ("dense", "blockwise", None):
        output = attend(*tensors, implementation=path, **options)
        np.testing.assert_allclose(to_numpy(output)[0, :, 0], to_numpy(scores)[0, 0])
    return to_numpy(scores)[0, 0]


def test_c05_padding_in_every_dtype():
    mask = masks.Padding(np.array([[1, 1, 0]]))
    for dtype in ("float16", "bfloat16", "float32"):
        tensors = [ops.cast(x, dtype) for x in zeros(1, 3)]
        _, scores = attend(*tensors, mask=mask, return_attention_scores=True)
        assert keras.backend.standardize_dtype(scores.dtype) == dtype
        assert to_numpy(scores).ravel().tolist() == [0.5, 0.5, 0.0]


def test_c07_causal_is_aligned_to_the_end():
    np.testing.assert_allclose(weights_of(1, 4, mask=masks.Causal()), [[0.25] * 4])
    expected = [[1 / 3, 1 / 3, 1 / 3, 0], [0.25] * 4]
    found = weights_of(2, 4, mask=masks.Causal())
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_c08_more_queries_than_keys():
    expected = [[0, 0], [0, 0], [1, 0], [0.5, 0.5]]
    assert weights_of(4, 2, mask=masks.Causal()).tolist() == expected


def test_c10_causal_with_left_padding():
    mask = masks.Causal() & masks.Padding(np.array([[0, 0, 1, 1]]))
    expected = [[0] * 4, [0] * 4, [0, 0, 1, 0], [0, 0, 0.5, 0.5]]
    assert weights_of(4, 4, mask=mask).tolist() == expected


def test_c24_window_counts_the_token_itself():
    found = weights_of(6, 6, mask=masks.Causal() & masks.Local(3))
    assert (found > 0).sum(1).tolist() == [1, 2, 3, 3, 3, 3]
    np.testing.assert_allclose(found[-1], [0, 0, 0, 1 / 3, 1 / 3, 1 / 3], rtol=1e-6)


# --------------------------------------------------------------- the framework's kernel


@tensorflow_only
def test_tensorflow_has_no_fused_kernel():
    with pytest.raises(ValueError, match=r"The fused kernel.*backend='tensorflow'"):
        attend(*inputs(), implementation="fused")


@needs_fused_kernel
@pytest.mark.parametrize("name", ["none", "causal", "padding"])
def test_fused_equals_dense_with_gradients(name):
    """Also where a sequence has no key at all."""
    query, key, value = (tensor(B, S, N, size) for size in (H, H, V))
    keys = np.ones((B, S), bool)
    keys[0], keys[1, 3:] = False, False
    mask = {"none": None, "causal": masks.Causal(), "padding": masks.Padding(keys)}[
        name
    ]
    value = tensor(B, S, N, H, seed=3)
    found = [
        value_and_gradients(
            lambda q, k, v, path=path: attend(q, k, v, mask, implementation=path),
            query,
            key,
            value,
        )
        for path in ("fused", "dense")
    ]
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-5)
    for x, y in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)


@needs_fused_kernel
def test_only_what_the_kernel_computes_is_fused():
    with pytest.raises(ValueError, match="The fused kernel computes"):
        attend(*inputs(), mask=masks.Local(2), implementation="fused")


@torch_only
@pytest.mark.torch
def test_equals_torch():
    import torch

    query, key, value = inputs()
    mask = np.random.default_rng(0).integers(0, 2, (B, 1, T, S)).astype(bool)
    mask[..., 0] = True
    expected = torch.nn.functional.scaled_dot_product_attention(
        *(x.transpose(1, 2) for x in (query, key, value)), torch.tensor(mask)
    ).transpose(1, 2)
    for path in ("dense", "blockwise"):
        found = attend(query, key, value, mask=mask, implementation=path)
        np.testing.assert_allclose(to_numpy(found), to_numpy(expected), atol=2e-6)


@jax_only
@pytest.mark.jax
def test_equals_jax():
    import jax

    expected = jax.nn.dot_product_attention(*inputs()[:2], inputs()[1])
    query, key, _ = inputs()
    found = attend(query, key, key, implementation="blockwise")
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), atol=2e-6)


# ------------------------------------------------------------------------------ dropout


def test_dense_dropout_keeps_the_mean():
    tensors = inputs()
    seed = np.array([1, 2], "uint32")
    _, scores = attend(*tensors, return_attention_scores=True)
    output, before = attend(
        *tensors, dropout=0.5, seed=seed, return_attention_scores=True
    )
    np.testing.assert_allclose(to_numpy(before), to_numpy(scores), atol=1e-7)
    assert not np.allclose(to_numpy(output), to_numpy(attend(*tensors)), atol=1e-2)
    again = attend(*tensors, dropout=0.5, seed=seed, implementation="dense")
    np.testing.assert_allclose(to_numpy(again), to_numpy(output), atol=1e-6)


# ----------------------------------------------------------------------------- refusals


def test_refuses_what_it_cannot_compute():
    query, key, value = inputs()
    refused = [
        (r"`dropout` must be a number in \[0, 1\)", {"dropout": 1.0}),
        (r"Dropout needs a `seed`", {"dropout": 0.1}),
        (
            r"`implementation` must be one of 'blockwise', 'dense'",
            {"implementation": 3},
        ),
        (r"`score` must be one of", {"score": "cosin"}),
        (r"attention_bias", {"mask": np.ones((T, S), "float32")}),
    ]
    for match, options in refused:
        with pytest.raises(ValueError, match=match):
            attend(query, key, value, **options)


def test_refuses_shapes_that_do_not_fit():
    query, key, value = inputs()
    with pytest.raises(ValueError, match=r"\(batch, length, heads, size\)"):
        attend(query[:, :, 0], key, value)
    with pytest.raises(ValueError, match="a divisor of the query's"):
        attend(query, key[:, :, :2], value[:, :, :2])
    with pytest.raises(ValueError, match="must have the same length"):
        attend(query, key, value[:, 1:])


@pytest.mark.parametrize("path", ["dense", "blockwise"])
def test_bias_of_minus_infinity_leaves_an_even_row(path):
    """A bias weighs and hides nothing; float16 turns large numbers into infinity."""
    query, key, _ = zeros(1, 2)
    value = tensor(1, 2, 1, 3)
    bias = ops.full((1, 2), -np.inf)
    output = attend(query, key, value, bias=bias, implementation=path)
    expected = to_numpy(value).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(to_numpy(output), expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)], ids=["batch", "queries"])
def test_nothing_to_attend_from_gives_nothing(shape):
    """An empty batch reaches the blockwise path where its mask spares work."""
    batch, queries = shape
    query, key = tensor(batch, queries, 2, 4), tensor(batch, 5, 2, 4)
    for mask in (None, masks.Local(2)):
        output = attend(query, key, key, mask, implementation="blockwise")
        assert tuple(output.shape) == (batch, queries, 2, 4)
