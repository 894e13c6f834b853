"""The recurrence of CTC against the sum over all alignments, on every backend."""

import numpy as np
import pytest
from keras import ops

from keras_attention.losses._ctc_recurrence import ctc_recurrence
from tests.backend import compiled, tensorflow_only, to_numpy, value_and_gradients
from tests.keras_attention.ctc_reference import texts
from tests.keras_attention.decoding.toys import log_softmax

B, S, V = 6, 5, 3
LENGTHS = np.array([3, 2, 1, 0, 3, 2], "int32")
# Alike with another between, alike, nothing; 0 is the blank.
LABELS = np.array([[1, 2, 1], [2, 2, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1], [1, 2, 0]])


def logits():
    numbers = np.random.default_rng(0).normal(scale=2, size=(B, S, V))
    return numbers.astype("float32")


def loss(blank=0):
    labels = ((LABELS + blank) % V).astype("int32")
    labels, lengths = map(ops.convert_to_tensor, (labels, LENGTHS))

    def run(logits):
        frames = ops.log_softmax(logits, axis=-1)
        return ctc_recurrence(labels, frames, lengths, blank)

    return run


@pytest.mark.parametrize("blank", range(V))
def test_equals_the_sum_over_alignments(blank):
    frames = np.roll(logits(), blank, axis=2)
    found = compiled(loss(blank))(ops.convert_to_tensor(frames))
    expected = [
        -np.log(texts(row)[tuple(label[:length].tolist())])
        for row, label, length in zip(logits(), LABELS, LENGTHS, strict=True)
    ]
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-5)


def test_labels_of_nothing_alone():
    frames = ops.log_softmax(logits(), axis=-1)
    nothing = np.zeros((B, 0), "int32"), np.zeros(B, "int32")
    labels, lengths = map(ops.convert_to_tensor, nothing)
    found = ctc_recurrence(labels, frames, lengths, 0)
    expected = -to_numpy(frames)[..., 0].sum(axis=1)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-5)


def test_the_gradient_of_a_frame_sums_to_zero():
    """Of logits: what a label would have of a frame, less what it has."""
    _, (gradient,) = value_and_gradients(loss(), ops.convert_to_tensor(logits()))
    np.testing.assert_allclose(gradient.sum(axis=2), 0, atol=1e-5)
    # Nothing said: blanks everywhere are wanted.
    chances = np.exp(log_softmax(logits()[3]))
    value = to_numpy(loss()(logits()))[3]
    expected = np.cos(value) * (chances - np.eye(V)[0])
    np.testing.assert_allclose(gradient[3], expected, atol=1e-5)


def test_sure_blanks_at_the_end_change_nothing():
    def padded(frames):
        blanks = np.broadcast_to([0.0, -1e9, -1e9], (B, 4, V)).astype("float32")
        return loss()(ops.concatenate([frames, blanks], axis=1))

    given = ops.convert_to_tensor(logits())
    expected = value_and_gradients(loss(), given)
    found = value_and_gradients(padded, given)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    np.testing.assert_allclose(found[1][0], expected[1][0], atol=1e-5)


@tensorflow_only
def test_batches_and_lengths_may_be_known_at_run_time():
    import tensorflow as tf

    signature = [
        tf.TensorSpec((None, None, V)),
        tf.TensorSpec((None, None), tf.int32),
        tf.TensorSpec((None,), tf.int32),
    ]

    def run(frames, labels, lengths):
        return ctc_recurrence(labels, tf.nn.log_softmax(frames), lengths, 0)

    graph = tf.function(run, input_signature=signature, autograph=False)
    expected = to_numpy(loss()(logits()))
    for rows in (B, 1):
        found = graph(logits()[:rows], LABELS[:rows].astype("int32"), LENGTHS[:rows])
        np.testing.assert_allclose(found, expected[:rows], rtol=1e-5)


@tensorflow_only
@pytest.mark.slow
def test_xla_differentiates_it():
    given = ops.convert_to_tensor(logits())
    expected = value_and_gradients(loss(), given)
    found = value_and_gradients(loss(), given, jit=True)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    np.testing.assert_allclose(found[1][0], expected[1][0], atol=1e-5)
