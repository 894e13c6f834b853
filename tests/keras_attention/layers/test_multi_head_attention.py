"""Multi-head attention against Keras's and torch's with copied weights; the cache."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers, masks
from tests.backend import tensor, to_numpy, torch_only

B, T, S, N, H, V, D = 2, 5, 7, 3, 11, 13, 17
DV, DK, A = 19, 23, 3

# Two float32 computations of the same thing.
CLOSE = {"rtol": 1e-5, "atol": 2e-6}


def inputs(*free):
    """Query, value and key, with further axes after the batch."""
    return [
        tensor(B, *free, T, D, seed=1),
        tensor(B, *free, S, DV, seed=2),
        tensor(B, *free, S, DK, seed=3),
    ]


def twins(tensors, **options):
    """Keras's layer with random weights, and ours with the same."""
    options = {"num_heads": N, "key_dim": H, **options}
    peer = keras.layers.MultiHeadAttention(**options)
    ours = layers.MultiHeadAttention(**options)
    # With scores: Keras's fused call under JAX refuses values of another size.
    peer(*tensors, return_attention_scores=True)
    ours(*tensors)
    random = np.random.default_rng(0)
    peer.set_weights([0.3 * random.normal(size=w.shape) for w in peer.get_weights()])
    ours.set_weights(peer.get_weights())
    return peer, ours


def check(tensors, call=None, **options):
    """Outputs and scores equal Keras's."""
    peer, ours = twins(tensors, **options)
    call = call or {}
    expected = peer(*tensors, return_attention_scores=True, **call)
    found = ours(*tensors, return_attention_scores=True, **call)
    for x, y in zip(found, expected, strict=True):
        assert tuple(x.shape) == tuple(y.shape)
        np.testing.assert_allclose(to_numpy(x), to_numpy(y), **CLOSE)


# ------------------------------------------------------------------ Keras's constructor


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"value_dim": V},
        {"use_bias": False},
        {"output_shape": 29},
        {"output_shape": (29, 37)},
        {"use_gate": True},
        {"use_gate": True, "value_dim": V},
        {"dropout": 0.5},
    ],
    ids=str,
)
def test_equals_keras(options):
    check(inputs(), **options)


def test_equals_keras_with_a_sliding_window():
    """Keras builds its window for equal lengths."""
    x = tensor(B, S, D)
    check([x, x], sliding_window=3)
    check([x, x], {"use_causal_mask": True}, sliding_window=3)


def test_equals_keras_under_masks():
    """In rows that have something to attend: the others are 0 with us alone."""
    mask = np.random.default_rng(1).integers(0, 2, (B, T, S)).astype(bool)
    mask[:, :, 0] = True
    keys = np.arange(S)[None] < np.array([[4], [S]])
    check(inputs(), {"attention_mask": mask})
    check(inputs(), {"value_mask": ops.convert_to_tensor(keys)})
    check(inputs(), {"attention_mask": mask, "value_mask": ops.convert_to_tensor(keys)})


def test_equals_keras_causally_where_lengths_agree():
    x = tensor(B, S, D)
    check([x, x], {"use_causal_mask": True})


@pytest.mark.parametrize("axes", [None, 2, (2,), (1,), (1, 2)], ids=str)
def test_equals_keras_over_attention_axes(axes):
    """Free axes are shared by query and key, so their lengths agree."""
    tensors = inputs(A) if axes in (None, 2, (2,), (1, 2)) else _transposed(inputs(A))
    check(tensors, attention_axes=axes)


def _transposed(tensors):
    """The sequence axis first, where `attention_axes=(1,)` looks for it."""
    return [ops.transpose(x, (0, 2, 1, 3)) for x in tensors]


def test_equals_keras_over_attention_axes_under_a_mask():
    mask = np.random.default_rng(1).integers(0, 2, (B, T, S)).astype(bool)
    mask[:, :, 0] = True
    check(inputs(A), {"attention_mask": mask}, attention_axes=2)


@pytest.mark.parametrize("use_gate", [False, True])
def test_equals_keras_in_the_losses_of_its_regularizers(use_gate):
    peer, ours = twins(
        inputs(),
        use_gate=use_gate,
        activity_regularizer="l2",
        kernel_regularizer=lambda kernel: ops.sum(ops.abs(kernel)),
    )
    peer(*inputs(), return_attention_scores=True)
    ours(*inputs())
    expected = [to_numpy(loss) for loss in peer.losses]
    found = [to_numpy(loss) for loss in ours.losses]
    assert len(found) == 2 * (5 if use_gate else 4)
    np.testing.assert_allclose(sorted(found), sorted(expected), rtol=1e-5)


def test_saved_weights_are_in_keras_order():
    peer, ours = twins(inputs(), use_gate=True)
    # Keras calls the last projection `attention_output`.
    names = [weight.path.split("/", 1)[1] for weight in peer.weights]
    names = [name.removeprefix("attention_") for name in names]
    assert [weight.path.split("/", 1)[1] for weight in ours.weights] == names


def test_equals_keras_grouped_query_attention():
    query, value, _ = inputs()
    value = tensor(B, S, D, seed=2)
    peer = keras.layers.GroupQueryAttention(H, 6, 2)
    ours = layers.MultiHeadAttention(6, H, num_key_value_heads=2)
    peer(query, value)
    ours(query, value)
    ours.set_weights(peer.get_weights())
    expected = to_numpy(peer(query, value))
    np.testing.assert_allclose(to_numpy(ours(query, value)), expected, **CLOSE)


@torch_only
@pytest.mark.torch
def test_equals_torch():
    import torch

    size = N * H
    peer = torch.nn.MultiheadAttention(size, N, batch_first=True)
    ours = layers.MultiHeadAttention(N, H)
    query, value = tensor(B, T, size), tensor(B, S, size, seed=1)
    ours(query, value)
    kernel = peer.in_proj_weight.detach().numpy()
    bias = tensor(3 * size, seed=2).numpy()
    peer.in_proj_bias.data = torch.tensor(bias)
    projections = [
        part
        for i in range(3)
        for part in (
            kernel[i * size : (i + 1) * size].T.reshape(size, N, H),
            bias[i * size : (i + 1) * size].reshape(N, H),
        )
    ]
    out = peer.out_proj
    last = [
        out.weight.detach().numpy().T.reshape(N, H, size),
        out.bias.detach().numpy(),
    ]
    ours.set_weights([*projections, *last])
    keys = np.arange(S)[None] < np.array([[4], [S]])
    expected, expected_scores = peer(
        query,
        value,
        value,
        key_padding_mask=torch.tensor(~keys),
        average_attn_weights=False,
    )
    output, scores = ours(query, value, value_mask=keys, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(output), to_numpy(expected.detach()), **CLOSE)
    np.testing.assert_allclose(
        to_numpy(scores), to_numpy(expected_scores.detach()), **CLOSE
    )


# ------------------------------------------------------------------ options of our own


def test_sliding_window_is_the_local_mask():
    query, value, key = inputs()
    window = layers.MultiHeadAttention(N, H, sliding_window=3)
    local = layers.MultiHeadAttention(N, H, mask=masks.Local(3))
    window(query, value, key)
    local(query, value, key)
    local.set_weights(window.get_weights())
    np.testing.assert_allclose(
        to_numpy(local(query, value, key)), to_numpy(window(query, value, key))
    )


def test_fewer_key_heads_have_fewer_parameters():
    layer = layers.MultiHeadAttention(6, H, num_key_value_heads=2, use_bias=False)
    layer.build((B, T, D), (B, S, DV))
    assert layer.count_params() == 6 * H * D + 2 * H * DV * 2 + 6 * H * D


# ----------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"num_heads": 0}, "`num_heads` must be a positive integer"),
        ({"key_dim": -3}, r"`key_dim` must be a positive integer.*key_dim=-3"),
        ({"value_dim": 2.5}, "`value_dim` must be a positive integer"),
        ({"sliding_window": 0}, "`sliding_window` must be a positive integer"),
        ({"num_key_value_heads": 2}, "must divide `num_heads`.*num_heads=3"),
        ({"score": "bilinear"}, "`score` must be one of 'additive'"),
        ({"dropout": 1}, r"`dropout` must be a number in \[0, 1\)"),
        ({"mask": np.ones((3, 3))}, "must be a mask of positions"),
        ({"logit_soft_cap": 0}, "`logit_soft_cap` must be positive"),
        ({"rotary": True}, "must be a multiple of 2 to be rotated.*size=11"),
        ({"rotary": "yes"}, "`rotary` must be True, a dict of arguments"),
    ],
)
def test_refused_arguments(options, match):
    with pytest.raises(ValueError, match=match):
        layers.MultiHeadAttention(**{"num_heads": N, "key_dim": H, **options})
