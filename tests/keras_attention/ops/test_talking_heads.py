"""Attention with mixed heads against a loop in float64."""

import numpy as np
import pytest

from keras_attention import masks
from keras_attention.ops import attend, attend_talking_heads
from tests.backend import tensor, to_numpy, value_and_gradients

B, T, S, N, H, V = 2, 5, 7, 3, 11, 13


def inputs():
    """Query, key, value and both mixes."""
    return [
        tensor(B, T, N, H),
        tensor(B, S, N, H, seed=1),
        tensor(B, S, N, V, seed=2),
        tensor(N, N, seed=3),
        tensor(N, N, seed=4),
    ]


def by_hand(query, key, value, before, after, allowed=None, bias=0.0):
    """Output and scores, head by head."""
    logits = np.einsum("btnh,bsnh->bnts", query, key) / np.sqrt(H)
    mixed = np.zeros_like(logits)
    for n, m in np.ndindex(N, N):
        mixed[:, n] += before[n, m] * logits[:, m]
    mixed = mixed + bias
    if allowed is not None:
        mixed = np.where(allowed, mixed, -np.inf)
    scores = np.exp(mixed - mixed.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    used = np.zeros_like(scores)
    for n, m in np.ndindex(N, N):
        used[:, n] += after[n, m] * scores[:, m]
    if allowed is not None:
        used = np.where(allowed, used, 0)
    return np.einsum("bnts,bsnv->btnv", used, value), scores


def check(allowed=None, bias=None, **options):
    tensors = inputs()
    exact = [to_numpy(x).astype("float64") for x in tensors]
    given = 0.0 if bias is None else to_numpy(bias)
    expected = by_hand(*exact, allowed=allowed, bias=given)
    found = attend_talking_heads(*tensors, bias=bias, **options)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(to_numpy(x), y, rtol=1e-4, atol=1e-5)


def test_equals_a_loop():
    check()


def test_equals_a_loop_under_a_bias():
    check(bias=tensor(T, S))
    check(bias=tensor(B, N, T, S))


def test_equals_a_loop_under_a_mask():
    causal = np.tril(np.ones((T, S), bool), S - T)
    check(causal[None, None], mask=masks.Causal())
    from_two = np.tril(np.ones((T, S), bool))
    check(from_two[None, None], mask=masks.Causal(), query_offset=0)


def test_what_a_mask_hides_from_one_head_no_other_tells_it():
    allowed = np.random.default_rng(0).integers(0, 2, (B, N, T, S)).astype(bool)
    allowed[..., 0] = True
    check(allowed, mask=allowed)


def test_identities_give_plain_attention():
    tensors = inputs()[:3]
    mixes = [np.eye(N, dtype="float32")] * 2
    found, scores = attend_talking_heads(*tensors, *mixes)
    expected, exact = attend(*tensors, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), atol=1e-6)
    np.testing.assert_allclose(to_numpy(scores), to_numpy(exact), atol=1e-6)


def test_an_empty_row_is_zero_with_gradient_zero():
    mask = np.ones((T, S), bool)
    mask[1] = False

    def row(*tensors):
        return attend_talking_heads(*tensors, mask=mask)[0][:, 1]

    value, gradients = value_and_gradients(row, *inputs())
    assert (value == 0).all()
    for gradient in gradients:
        assert (gradient == 0).all()


def test_shapes_that_do_not_fit_are_refused():
    query, key, value, *mixes = inputs()
    with pytest.raises(ValueError, match="equally many heads"):
        attend_talking_heads(query, key, value[:, :, :2], *mixes)


def test_dropout_needs_a_seed():
    x, mix = tensor(1, 4, 2, 3), np.eye(2, dtype="float32")
    with pytest.raises(ValueError, match="Dropout needs a `seed`"):
        attend_talking_heads(x, x, x, mix, mix, dropout=0.1)
