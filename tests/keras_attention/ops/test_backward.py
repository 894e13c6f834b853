"""Gradients of the blockwise path: sinks, dropout, and JAX's loops around it."""

import numpy as np
import pytest
from keras import ops

from keras_attention import masks
from keras_attention.ops import attend, tiling
from tests.backend import (
    BACKEND,
    compiled,
    jax_only,
    second_gradient,
    slow_on_jax,
    tensor,
    tensorflow_only,
    to_numpy,
    value_and_gradients,
)
from tests.keras_attention.ops.blockwise_cases import (
    MASKS,
    SEED,
    WEIGHTS,
    B,
    H,
    N,
    S,
    T,
    attention,
    inputs,
)

pytestmark = pytest.mark.usefixtures("small_tiles")


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


@pytest.mark.parametrize("name", ["causal", "global | local"])
def test_second_gradients_are_right_or_refused(name, monkeypatch):
    """JAX has them; TensorFlow and PyTorch must not give wrong ones in silence."""
    monkeypatch.setattr(tiling, "PASS_COST", -(10**6))
    blockwise, dense = (
        attention(path, mask=MASKS[name](T, S)) for path in ("blockwise", "dense")
    )
    if BACKEND == "jax":
        found, expected = (second_gradient(f, *inputs()) for f in (blockwise, dense))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        return
    refusal = {
        "tensorflow": (NotImplementedError, "no second gradient on TensorFlow"),
        "torch": (RuntimeError, "does not require grad"),
    }[BACKEND]
    with pytest.raises(refusal[0], match=refusal[1]):
        second_gradient(blockwise, *inputs())
