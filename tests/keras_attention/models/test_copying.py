"""The mixture itself: against its definition, at its extremes, and its gradient."""

import numpy as np
import pytest
from keras import ops

from keras_attention.models._copying import CopyHead, CoveragePenalty, mixed_logits
from tests.backend import tensor, to_numpy, value_and_gradients

B, T, S, V, D, M = 2, 3, 5, 7, 4, 6
SOURCE = np.array([[5, 3, 5, 6, 2], [4, 4, 2, 0, 0]], "int32")


def scores(logits=None):
    """Attention over the real places of the source."""
    logits = tensor(B, T, S) if logits is None else logits
    return ops.softmax(ops.where(SOURCE[:, None] != 0, logits, -1e9), axis=-1)


def mixture(logits, scores, gate):
    """The definition, over probabilities."""
    scatter = ops.one_hot(SOURCE, V)  # (B, S, V)
    p = ops.sigmoid(gate)
    return p * ops.softmax(logits, axis=-1) + (1 - p) * ops.matmul(scores, scatter)


def test_is_the_mixture_with_repeated_words_and_padding():
    given = tensor(B, T, V), scores(), tensor(B, T, 1)
    found = to_numpy(ops.softmax(mixed_logits(*given, SOURCE), axis=-1))
    np.testing.assert_allclose(found, to_numpy(mixture(*given)), atol=1e-6)


def test_has_the_gradient_of_the_mixture():
    def ours(logits, attention, gate):
        mixed = mixed_logits(logits, scores(attention), gate, SOURCE)
        return ops.log_softmax(mixed, axis=-1)

    def theirs(logits, attention, gate):
        return ops.log(mixture(logits, scores(attention), gate))

    given = tensor(B, T, V), tensor(B, T, S), tensor(B, T, 1)
    (_, found), (_, expected) = (value_and_gradients(x, *given) for x in (ours, theirs))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("gate", [-80.0, 80.0])
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_extremes_are_finite(gate, scale):
    """All copied or all made, and a vocabulary that is sure: no 0, no NaN."""

    def loss(logits, scores, gates):
        logits = mixed_logits(logits, scores, gates, SOURCE)
        return ops.log_softmax(logits, axis=-1)

    given = scale * tensor(B, T, V), scores(), ops.full((B, T, 1), gate)
    value, gradients = value_and_gradients(loss, *given)
    assert np.isfinite(value).all()
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    if gate < 0:  # then what is copied is all there is
        copied = to_numpy(mixture(*given))
        np.testing.assert_allclose(np.exp(value), copied, atol=1e-5)


def test_padding_is_never_copied():
    even = ops.full((B, T, S), 1.0 / S)  # as no attention would look at padding
    logits = tensor(B, T, V)
    found = mixed_logits(logits, even, ops.zeros((B, T, 1)), SOURCE)
    np.testing.assert_array_equal(to_numpy(found)[..., 0], to_numpy(logits)[..., 0])
    others = [x for x in range(V) if x not in SOURCE[1]]
    np.testing.assert_array_equal(
        to_numpy(found)[1][:, others], to_numpy(logits)[1][:, others]
    )


def test_a_row_without_a_source_writes_from_the_vocabulary():
    source, attention = np.zeros_like(SOURCE), ops.zeros((B, T, S))

    def mixed(logits, attention, gate):
        return mixed_logits(logits, attention, gate, source)

    given = tensor(B, T, V), attention, tensor(B, T, 1)
    found, gradients = value_and_gradients(mixed, *given)
    np.testing.assert_array_equal(found, to_numpy(given[0]))
    np.testing.assert_allclose(gradients[0], np.cos(found), rtol=1e-5)
    for gradient in gradients[1:]:
        np.testing.assert_array_equal(gradient, np.zeros_like(gradient))


def test_costs():
    shapes = (B, T, V), (B, T, D), (B, T, D), (B, T, S), (B, S, M), (B, S)
    assert CopyHead().multiply_adds(*shapes) == B * T * (S * (M + S) + M + 2 * D)


def test_the_layers_keep_the_precision_of_logits():
    head = CopyHead(dtype="mixed_bfloat16")
    logits, hidden, memory = tensor(B, T, V), tensor(B, T, D), tensor(B, S, M)
    found = head(logits, hidden, hidden, scores(), memory, SOURCE)
    assert "float32" in str(found.dtype)
    assert tuple(found.shape) == (B, T, V)


def test_the_penalty_hands_its_input_on():
    logits, layer = tensor(B, T, V), CoveragePenalty(2.0)
    target = np.array([[1, 4, 0], [1, 0, 0]])
    found = layer(logits, scores(), target, training=True)
    np.testing.assert_array_equal(to_numpy(found), to_numpy(logits))
    assert float(layer.losses[0]) > 0
