"""The blockwise path against the dense one: outputs and every gradient.

Tiles are made small, so that a few dozen positions give several tiles, segments and
groups, and lengths do and do not divide them.
"""

import numpy as np
import pytest
from keras import ops

from keras_attention import masks
from keras_attention.ops import tiling
from tests.backend import (
    BACKEND,
    compiled,
    slow_on_jax,
    tensor,
    tensorflow_only,
    to_numpy,
    value_and_gradients,
)
from tests.keras_attention.ops.blockwise_cases import (
    BIASES,
    MASKS,
    UNIONS,
    WEIGHTS,
    B,
    H,
    N,
    S,
    T,
    V,
    attention,
    check,
    inputs,
    padding,
)

pytestmark = pytest.mark.usefixtures("small_tiles")


def test_tiles_of_this_module_are_several():
    """Else the comparisons below would prove little."""
    for per_logit, rows in ((1, 16), (H, 8)):
        (work,) = tiling.plan(T, S, None, S - T, per_logit)
        assert work.segments[0].rows == rows
        assert tiling.shared_by(B, N, work.widest * per_logit) == (1, 1)
    (work,) = tiling.passes(T, S, 16, masks.Causal(), S - T)
    assert len(work.segments) == 3


# ---------------------------------------------------------------- outputs and gradients


@pytest.mark.parametrize("name", slow_on_jax(MASKS, "causal & local", "padding"))
def test_every_mask(name):
    check(inputs(), mask=MASKS[name](T, S))


@pytest.mark.parametrize("name", slow_on_jax(MASKS, "strided"))
def test_every_mask_with_batch_rows_in_one_tile(name, monkeypatch):
    monkeypatch.setattr(tiling, "TILE_ELEMENTS", 16 * S * N * B)
    (work,) = tiling.plan(T, S, None, S - T)
    assert tiling.shared_by(B, N, work.widest) == (B, N)
    tensors = [*inputs(), tensor(B, 1, T, S, seed=5)]
    check(tensors, mask=MASKS[name](T, S), bias=True)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("name", slow_on_jax(UNIONS, "strided"))
def test_every_union_in_passes(name, with_bias, monkeypatch):
    """One pass for each term, in its own order, whatever that costs here."""
    monkeypatch.setattr(tiling, "PASS_COST", -(10**6))
    mask = MASKS[name](T, S)
    assert len(tiling.passes(T, S, 16, mask, S - T)) > 1
    tensors = [*inputs(), *([tensor(1, N, T, S, seed=5)] if with_bias else [])]
    check(tensors, mask=mask, bias=with_bias)


@pytest.mark.parametrize("score", slow_on_jax(WEIGHTS, *WEIGHTS))
def test_every_score(score):
    mask = masks.Causal() & padding()
    check([*inputs(), *WEIGHTS[score]], score, mask=mask)


@pytest.mark.parametrize("shape", slow_on_jax(BIASES, (S,), (1, N, T, S)), ids=str)
def test_every_shape_of_bias(shape):
    check([*inputs(), tensor(*shape, seed=5)], bias=True, mask=masks.Causal())


@pytest.mark.parametrize("shape", slow_on_jax([(S,), (1, N, T, S)], (S,)), ids=str)
def test_bias_with_score_weights(shape):
    tensors = [*inputs(), tensor(*shape, seed=5), *WEIGHTS["additive"]]
    check(tensors, "additive", bias=True, mask=padding())


@pytest.mark.parametrize(
    "lengths",
    slow_on_jax([(32, 32), (64, 16), (53, 37), (1, 40), (3, 5)], (53, 37)),
    ids=str,
)
def test_lengths_that_do_and_do_not_divide_the_tile(lengths):
    """More queries than keys leave the first causal rows empty."""
    query_length, key_length = lengths
    mask = masks.Causal() & padding(query_length, key_length)
    check(inputs(query_length, key_length), mask=mask)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "score"),
    [
        (name, score)
        for i, name in enumerate(MASKS)
        for j, score in enumerate(WEIGHTS)
        if (i + j) % 3 == 0
    ],
)
def test_masks_with_scores_and_a_bias(name, score):
    """Every mask with two scores, every score with a third of the masks."""
    tensors = [*inputs(), tensor(1, N, T, S, seed=5), *WEIGHTS[score]]
    check(tensors, score, bias=True, mask=MASKS[name](T, S))


@pytest.mark.parametrize("offset", slow_on_jax([0, 5, 30], 5))
def test_query_offset(offset):
    check(inputs(), mask=masks.Causal() & masks.Local(9), query_offset=offset)


def test_fewer_key_heads():
    query, key, value = inputs()
    check([query, key[:, :, :1], value[:, :, :1]], mask=masks.Causal())


def test_score_of_the_users_own():
    def bilinear(query, key, scale):
        return ops.matmul(query * scale, ops.swapaxes(key, -1, -2)) / H

    check([*inputs(), tensor(H, seed=4)], bilinear, mask=masks.Causal())


# --------------------------------------------------------------- TensorFlow: graph, XLA


@tensorflow_only
@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("score", ["scaled_dot", "additive"])
def test_graph_and_xla(score, jit):
    check([*inputs(), *WEIGHTS[score]], score, jit=jit, mask=masks.Causal() & padding())


@tensorflow_only
@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", [(S,), (B, 1, 1, S), (1, N, T, S)], ids=str)
def test_bias_in_a_graph(shape, jit):
    """TensorFlow 2.21 fuses a product and a `(1, 1, 1, S)` bias into a kernel that
    returns empty tensors inside a loop; `add_bias` keeps out of its way.
    """
    check([*inputs(), tensor(*shape, seed=5)], bias=True, jit=jit, mask=None)


@tensorflow_only
@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["none", "causal & local", "padding"])
def test_lengths_and_batch_known_only_at_run_time(name, jit):
    import tensorflow as tf

    blockwise = compiled_for_any_length(MASKS[name], jit)
    for query_length, key_length in [(T, S), (S, T), (32, 32)]:
        tensors = inputs(query_length, key_length)
        mask = MASKS[name](query_length, key_length)
        keys = np.ones((B, key_length), bool)
        rows = np.ones((B, query_length), bool)
        if name == "padding":
            keys, rows = to_numpy(mask.mask), to_numpy(mask.query_mask)
        value, *gradients = blockwise(*tensors, tf.constant(keys), tf.constant(rows))
        dense = value_and_gradients(attention("dense", mask=mask), *tensors)
        np.testing.assert_allclose(value, dense[0], rtol=1e-5, atol=1e-5)
        for found, exact in zip(gradients, dense[1], strict=True):
            np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


def compiled_for_any_length(make_mask, jit):
    """Value and gradients with batch and lengths `None` in the signature."""
    import tensorflow as tf

    def step(query, key, value, keys, rows):
        mask = masks.Padding(keys, rows) if make_mask is padding else make_mask(T, S)
        tensors = (query, key, value)
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            output = attention("blockwise", mask=mask)(*tensors)
            loss = tf.reduce_sum(tf.sin(output))
        return (output, *tape.gradient(loss, tensors))

    signature = [
        *(tf.TensorSpec((None, None, N, size)) for size in (H, H, V)),
        *(tf.TensorSpec((None, None), "bool") for _ in range(2)),
    ]
    return tf.function(step, input_signature=signature, jit_compile=jit)


@pytest.mark.skipif(BACKEND == "torch", reason="Keras compiles nothing on PyTorch")
def test_compiled_forward_equals_eager():
    function = attention("blockwise", mask=masks.Causal())
    expected = to_numpy(function(*inputs()))
    found = to_numpy(compiled(function)(*inputs()))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


# ----------------------------------------------------------------------- half precision


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_near_float32(dtype):
    expected = value_and_gradients(attention("dense", mask=masks.Causal()), *inputs())
    half = [ops.cast(x, dtype) for x in inputs()]
    function = attention("blockwise", mask=masks.Causal())
    found = value_and_gradients(function, *half)
    tolerance = {"float16": 5e-3, "bfloat16": 5e-2}[dtype]
    np.testing.assert_allclose(found[0], expected[0], rtol=tolerance, atol=tolerance)
    for x, exact in zip(found[1], expected[1], strict=True):
        scale = 1 + np.abs(exact).max()
        assert np.abs(x - exact).max() < 2 * tolerance * scale


def test_products_that_overflow_float16():
    """Logits of 300 * 300 * 5 exceed 65,504."""
    query = ops.cast(ops.ones((1, 40, 1, H)) * 300, "float16")
    value = ops.cast(tensor(1, 40, 1, V), "float16")
    for path in ("dense", "blockwise"):
        output = to_numpy(attention(path, "dot")(query, query, value))
        assert np.isfinite(output).all()
