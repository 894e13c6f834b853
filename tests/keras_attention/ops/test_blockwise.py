"""The blockwise path against the dense one: outputs and every gradient.

Tiles are made small, so that a few dozen positions give several tiles, segments and
groups, and lengths do and do not divide them.
"""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import masks
from keras_attention.ops import attend, tiling
from tests.backend import (
    BACKEND,
    compiled,
    jax_only,
    slow_on_jax,
    tensor,
    tensorflow_only,
    to_numpy,
    value_and_gradients,
)

B, N, H, V = 2, 2, 5, 3
T, S = 37, 53
SEED = np.array([7, 11], "uint32")

WEIGHTS = {
    "dot": [],
    "scaled_dot": [],
    "general": [tensor(H, H, seed=3)],
    "additive": [tensor(H, seed=3)],
    "cosine": [ops.convert_to_tensor(0.7)],
    "gaussian": [ops.convert_to_tensor(1.5)],
}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """A tile holds one head and 16 rows, or 8 where the score is pairwise."""
    monkeypatch.setattr(tiling, "TILE_ELEMENTS", 1024)
    monkeypatch.setattr(tiling, "TILE_ROWS", 16)
    monkeypatch.setattr(tiling, "KEY_BLOCK", 16)


def padding(query_length=T, key_length=S):
    """Padded keys and queries, and a sequence without any key."""
    random = np.random.default_rng(0)
    keys = random.integers(0, 2, (B, key_length))
    keys[1] = 0
    return masks.Padding(keys, random.integers(0, 2, (B, query_length)))


def some_dense(query_length=T, key_length=S):
    random = np.random.default_rng(1)
    return masks.Dense(random.integers(0, 2, (B, 1, query_length, key_length)))


def documents(query_length=T, key_length=S):
    ids = np.arange(B * key_length).reshape(B, key_length) // 13
    return masks.Causal() & masks.Documents(ids, ids[:, -query_length:])


MASKS = {
    "none": lambda *lengths: None,
    "causal": lambda *lengths: masks.Causal(),
    "local": lambda *lengths: masks.Local(9),
    "causal & local": lambda *lengths: masks.Causal() & masks.Local(7),
    "causal | local": lambda *lengths: masks.Causal() | masks.Local(20),
    "padding": padding,
    "causal & padding": lambda *lengths: masks.Causal() & padding(*lengths),
    "causal | local | padding": lambda *lengths: (
        masks.Causal() | masks.Local(5) | padding(*lengths)
    ),
    "dense": some_dense,
    "dilated": lambda *lengths: masks.Dilated(3, 5),
    "strided": lambda *lengths: masks.Strided(7) & masks.Causal(),
    "fixed & padding": lambda *lengths: masks.Fixed(16, 2) & padding(*lengths),
    "block": lambda *lengths: masks.Block(20),
    "global | local": lambda *lengths: masks.Global(3) | masks.Local(5),
    "big bird": lambda *lengths: masks.BigBird(5, 2, 2, 8, 64),
    "causal | prefix": lambda *lengths: masks.Causal() | masks.Prefix(11),
    "predicate": lambda *lengths: masks.Predicate(lambda i, j: (i - j) % 9 < 3),
    "documents": lambda *lengths: documents(*lengths),
    "documents | dilated": lambda *lengths: (
        masks.Documents(np.arange(B * lengths[1]).reshape(B, -1) // 13)
        & masks.Dilated(None, 5)
    ),
}
BIASES = [(S,), (T, S), (N, T, S), (1, N, T, S), (B, 1, 1, S), (B, N, T, 1)]


def inputs(query_length=T, key_length=S):
    """Query, key and value."""
    return [
        tensor(B, query_length, N, H, seed=0),
        tensor(B, key_length, N, H, seed=1),
        tensor(B, key_length, N, V, seed=2),
    ]


def attention(implementation, score="scaled_dot", bias=False, **options):
    """`attend` as a function of query, key, value, then bias and score weights."""

    def function(query, key, value, *rest):
        return attend(
            query,
            key,
            value,
            bias=rest[0] if bias else None,
            score=score,
            score_weights=rest[1 if bias else 0 :],
            implementation=implementation,
            **options,
        )

    return function


def check(tensors, score="scaled_dot", jit=None, **options):
    """Blockwise equals dense in the output and in the gradient of every tensor."""
    dense = value_and_gradients(attention("dense", score, **options), *tensors)
    found = value_and_gradients(
        attention("blockwise", score, **options), *tensors, jit=jit
    )
    # 1e-6 is the contract's; JAX's products of other shapes round up to twice that.
    rounding = 2e-6 if keras.backend.backend() == "jax" else 1e-6
    np.testing.assert_allclose(found[0], dense[0], rtol=1e-6, atol=rounding)
    for index, (x, exact) in enumerate(zip(found[1], dense[1], strict=True)):
        assert x.shape == exact.shape
        # Gradients of score weights are float32 sums over thousands of pairs, which
        # cancel; relative to the largest entry they are good to 1e-5.
        scale = 1 + np.abs(exact).max()
        assert np.abs(x - exact).max() < 1e-5 * scale, f"gradient of tensor {index}"


def test_tiles_of_this_module_are_several():
    """Else the comparisons below would prove little."""
    assert tiling.tile_shape(B, N, T, S, 1) == (1, 1, 16)
    assert tiling.tile_shape(B, N, T, S, H) == (1, 1, 8)
    (work,) = tiling.passes(T, S, 16, masks.Causal(), S - T)
    assert len(work.segments) == 3


# ---------------------------------------------------------------- outputs and gradients


@pytest.mark.parametrize("name", slow_on_jax(MASKS, "causal & local", "padding"))
def test_every_mask(name):
    check(inputs(), mask=MASKS[name](T, S))


@pytest.mark.parametrize("name", slow_on_jax(MASKS, "strided"))
def test_every_mask_with_batch_rows_in_one_tile(name, monkeypatch):
    monkeypatch.setattr(tiling, "TILE_ELEMENTS", 16 * S * N * B)
    assert tiling.tile_shape(B, N, T, S, 1) == (B, N, 16)
    tensors = [*inputs(), tensor(B, 1, T, S, seed=5)]
    check(tensors, mask=MASKS[name](T, S), bias=True)


UNIONS = ("strided", "fixed & padding", "global | local", "big bird")


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
@pytest.mark.parametrize("score", WEIGHTS)
@pytest.mark.parametrize("name", MASKS)
def test_every_mask_with_every_score_and_a_bias(name, score):
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


@pytest.mark.parametrize("name", slow_on_jax(["none", "padding", "strided"], "padding"))
def test_a_sink_takes_its_share_and_its_gradient(name, monkeypatch):
    monkeypatch.setattr(tiling, "PASS_COST", -(10**6))
    mask, sink = MASKS[name](T, S), tensor(N, seed=9)
    dense, blockwise = (
        value_and_gradients(
            lambda q, k, v, sink, path=path: attend(
                q, k, v, mask=mask, sink=sink, implementation=path
            ),
            *inputs(),
            sink,
        )
        for path in ("dense", "blockwise")
    )
    np.testing.assert_allclose(blockwise[0], dense[0], rtol=1e-6, atol=2e-6)
    for found, exact in zip(blockwise[1], dense[1], strict=True):
        scale = 1 + np.abs(exact).max()
        assert np.abs(found - exact).max() < 1e-5 * scale


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


# ------------------------------------------------------------------------ JAX: loops


@jax_only
@pytest.mark.parametrize("remat", [False, True])
def test_a_scan_may_compute_mask_offset_and_seed(remat):
    """They enter as arguments: what JAX's loops compute must not be closed over."""
    import jax

    query, key, value = inputs()
    lengths = jax.numpy.array([9, 20])

    def attended(query, length):
        keys = jax.numpy.arange(S)[None] < length
        output = attend(
            query,
            key,
            value,
            mask=masks.Causal() & masks.Padding(keys),
            dropout=0.3,
            seed=SEED + length.astype("uint32"),
            query_offset=length,
            implementation="blockwise",
        )
        return jax.numpy.sum(jax.numpy.sin(output))

    def one_by_one(query):
        return sum(attended(query, length) for length in lengths)

    def scanned(query):
        step = jax.checkpoint(attended) if remat else attended
        return jax.lax.scan(
            lambda total, length: (total + step(query, length), None), 0.0, lengths
        )[0]

    for expected, found in zip(
        jax.value_and_grad(one_by_one)(query),
        jax.value_and_grad(scanned)(query),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------------------ dropout


def dropping(seed=SEED, **options):
    """Blockwise attention with dropout at a fixed seed."""
    seed = ops.convert_to_tensor(seed)
    return attention("blockwise", dropout=0.4, seed=seed, **options)


@pytest.mark.parametrize("score", ["scaled_dot", "additive"])
def test_dropout_gradients_by_finite_differences(score):
    """Holds only if forward and backward pass drop the same scores."""
    tensors = [*inputs(), *WEIGHTS[score]]
    function = compiled(
        lambda *x: ops.sum(ops.sin(dropping(score=score, mask=masks.Causal())(*x)))
    )
    _, gradients = value_and_gradients(
        dropping(score=score, mask=masks.Causal()), *tensors, jit=False
    )
    for index, gradient in enumerate(gradients):
        direction = to_numpy(tensor(*gradient.shape, seed=20 + index))
        step = 1e-2 / np.abs(direction).max()
        ahead, behind = list(tensors), list(tensors)
        change = ops.convert_to_tensor(step * direction)
        ahead[index], behind[index] = tensors[index] + change, tensors[index] - change
        slope = (float(function(*ahead)) - float(function(*behind))) / (2 * step)
        expected = float((gradient * direction).sum())
        # Differences of float32 sums of about 100 over a step of 1e-2.
        assert slope == pytest.approx(expected, rel=2e-2, abs=2e-2), f"tensor {index}"


def scores_used(function, query_length=T, key_length=S):
    """What `function` multiplies the values with: its output for unit vectors."""
    query, key, _ = inputs(query_length, key_length)
    units = np.eye(key_length, dtype="float32")[:, None, :]
    units = np.broadcast_to(units, (B, key_length, N, key_length))
    return to_numpy(function(query, key, ops.convert_to_tensor(units)))


def test_dropout_drops_its_share_and_scales_the_rest():
    kept = scores_used(attention("blockwise"))
    dropped = scores_used(dropping())
    keep = dropped != 0
    np.testing.assert_allclose(dropped[keep], kept[keep] / 0.6, rtol=1e-5)
    # 7,844 independent scores: four standard deviations are 0.022.
    assert keep.mean() == pytest.approx(0.6, abs=0.022)


def test_dropout_differs_by_tile_group_and_seed():
    keep = scores_used(dropping(), 48) != 0
    blocks = [
        keep[b, t : t + 16, n] for b in range(B) for t in (0, 16, 32) for n in (0, 1)
    ]
    other_seed = scores_used(dropping(SEED + 1), 48) != 0
    same_seed = scores_used(dropping(), 48) != 0
    np.testing.assert_array_equal(keep, same_seed)
    assert 0.4 < (keep == other_seed).mean() < 0.65
    for i, first in enumerate(blocks):
        for second in blocks[:i]:
            assert 0.4 < (first == second).mean() < 0.65


def test_dropout_differs_from_pass_to_pass(monkeypatch):
    """Both passes have a tile at row 0 of the same shape: one name would drop alike."""
    monkeypatch.setattr(tiling, "PASS_COST", -(10**9))
    mask = masks.Block(16) | masks.Prefix(16)
    first, second = tiling.passes(48, 48, 16, mask, 0)
    assert first.segments[0].rows == second.segments[0].rows == 16
    keep = scores_used(dropping(mask=mask), 48, 48) != 0
    later = keep[:, 16:, :, :]  # rows that see their block and the prefix
    block = np.stack([later[:, :16, :, 16:32], later[:, 16:, :, 32:]])
    prefix = np.stack([later[:, :16, :, :16], later[:, 16:, :, :16]])
    assert 0.4 < (block == prefix).mean() < 0.65
    assert 0.5 < block.mean() < 0.7


def test_dropout_reaches_values_where_kept_only():
    """The backward pass drops what the forward pass dropped."""
    query, key, value = inputs()
    keep = scores_used(dropping())

    def first_row(value):
        return dropping()(query, key, value)[0, 0, 0]

    _, (gradient,) = value_and_gradients(first_row, value)
    np.testing.assert_array_equal((gradient[0, :, 0] != 0).any(-1), keep[0, 0, 0] != 0)


@tensorflow_only
@pytest.mark.parametrize(
    ("jit", "static"),
    [(False, False), pytest.param(True, True, marks=pytest.mark.slow)],
)
def test_dropout_is_the_same_both_ways_in_xla_and_at_any_length(jit, static):
    """The gradient of a value is the scores that read it, dropped or not."""
    import tensorflow as tf

    length = S if static else None
    signature = [tf.TensorSpec((B, length, N, H)) for _ in range(2)]

    @tf.function(
        input_signature=[*signature, tf.TensorSpec((B, length, N, S))],
        jit_compile=jit,
    )
    def step(query, key, value):
        with tf.GradientTape() as tape:
            tape.watch(value)
            output = dropping()(query, key, value)
            first_row = tf.reduce_sum(output[:, 0])
        return output, tape.gradient(first_row, value)

    query, key = (tensor(B, S, N, H, seed=i) for i in range(2))
    units = np.broadcast_to(np.eye(S, dtype="float32")[:, None], (B, S, N, S))
    output, gradient = step(query, key, tf.constant(units))
    read = to_numpy(output)[:, 0]  # (B, N, S): what the first row read of each value
    gradient = to_numpy(gradient)[..., 0].transpose(0, 2, 1)
    np.testing.assert_allclose(gradient, read, rtol=1e-5, atol=1e-6)
    assert 0.4 < (read != 0).mean() < 0.8


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
