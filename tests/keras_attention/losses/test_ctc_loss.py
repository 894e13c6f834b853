"""CTC loss against all alignments, and what becomes of labels that cannot fit."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.losses import (
    CTC,
    ctc,
    ctc_lengths,
    fits_ctc,
    with_blank_padding,
)
from tests.backend import (
    compiled,
    thorough_but,
    to_numpy,
    torch_only,
    value_and_gradients,
    with_mask,
)
from tests.keras_attention.ctc_reference import texts

V, S = 3, 5
LABELS = np.array([[1, 2, 1], [2, 2, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1]])
LABEL_LENGTHS, FRAME_LENGTHS = np.array([3, 2, 1, 0, 3]), np.array([5, 3, 1, 2, 5])
MASK = np.arange(S) < FRAME_LENGTHS[:, None]


def logits(padding=0.0):
    """Random, with `padding` behind the last frame."""
    numbers = np.random.default_rng(0).normal(scale=2, size=(len(LABELS), S, V))
    return np.where(MASK[..., None], numbers, padding).astype("float32")


def by_hand():
    """Minus the logarithm of the sum over alignments, in float64."""
    rows = zip(logits(), LABELS, LABEL_LENGTHS, FRAME_LENGTHS, strict=True)
    return [
        -np.log(texts(row[:frames])[tuple(label[:length].tolist())])
        for row, label, length, frames in rows
    ]


def test_c60_values_with_the_blank_first():
    """C60 (a): uniform frames, one of nine or three of nine alignments."""
    values = ctc([[1], [0]], ops.zeros((2, 2, 3)), [1, 0], [2, 2])
    np.testing.assert_allclose(to_numpy(values), [1.098612, 2.197225], atol=1e-5)


def test_c60_the_blank_may_be_any_class():
    """C60 (b): classes rolled so that the blank is last give an equal loss."""
    frames = np.random.default_rng(1).normal(size=(1, 4, 3)).astype("float32")
    first = ctc([[1, 2]], frames, [2], [4])
    last = ctc([[0, 1]], np.roll(frames, -1, axis=2), [2], [4], blank=2)
    np.testing.assert_allclose(to_numpy(first), to_numpy(last), rtol=1e-6)
    expected = -np.log(texts(frames[0])[1, 2])
    np.testing.assert_allclose(to_numpy(first), [expected], rtol=1e-5)


def test_c61_labels_that_cannot_fit_are_dropped():
    """C61: no infinite and no huge loss; the good example is as it would be alone."""
    labels, lengths = np.array([[1, 1], [1, 2]]), np.array([2, 2])
    frames = ops.convert_to_tensor(logits()[:2, :2])

    def loss(frames):
        return ctc(labels, frames, lengths, [2, 2])

    values, (gradient,) = value_and_gradients(loss, frames)
    assert values[0] == 0
    np.testing.assert_array_equal(gradient[0], 0)
    alone, (expected,) = value_and_gradients(
        lambda frames: ctc(labels[1:], frames, lengths[1:], [2]), frames[1:]
    )
    np.testing.assert_allclose(values[1:], alone, rtol=1e-6)
    np.testing.assert_allclose(gradient[1:], expected, rtol=1e-5, atol=1e-7)
    assert fits_ctc(labels, lengths, [2, 2]).shape == (2,)
    assert to_numpy(fits_ctc(labels, lengths, [2, 2])).tolist() == [False, True]


@pytest.mark.parametrize("padding", [0.0, np.nan])
def test_equals_the_sum_over_alignments_whatever_padding_holds(padding):
    frames = ops.convert_to_tensor(logits(padding))

    def loss(frames):
        return ctc(LABELS, frames, LABEL_LENGTHS, FRAME_LENGTHS)

    values, (gradient,) = value_and_gradients(loss, frames)
    np.testing.assert_allclose(values, by_hand(), rtol=1e-5)
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[~MASK], 0)
    assert (np.abs(gradient[MASK]).sum(-1) > 1e-4).all()


def test_the_gradient_is_that_of_the_sum_over_alignments():
    label, frames = (1, 2), logits()[:1, :3]

    def loss(frames):
        return ops.sum(ctc([label], frames, [2], [3]))

    value, (gradient,) = value_and_gradients(loss, ops.convert_to_tensor(frames))
    step, expected = 1e-4, np.zeros(frames.shape)
    for place in np.ndindex(*frames.shape):
        moved = np.zeros(frames.shape)
        moved[place] = step
        up, down = (
            -np.log(texts((frames + sign * moved)[0])[label]) for sign in (1, -1)
        )
        expected[place] = (up - down) / (2 * step)
    expected *= np.cos(value)  # of the sine that `value_and_gradients` takes
    np.testing.assert_allclose(gradient, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("label", "frames", "fits"),
    [
        ((1, 2), 2, True),
        ((1, 2), 1, False),
        ((2, 2), 2, False),
        ((2, 2), 3, True),
        ((1, 1, 1), 4, False),
        ((1, 1, 1), 5, True),
        ((), 0, True),
        ((1,), 0, False),
    ],
)
def test_fits_if_there_is_an_alignment(label, frames, fits):
    """Repeats behind the end of a label are none."""
    row = np.array([[*label, *[2] * (5 - len(label))]])
    found = fits_ctc(row, np.array([len(label)]), np.array([frames]))
    assert to_numpy(found).tolist() == [fits]
    if frames:
        assert (label in texts(np.zeros((frames, V)))) == fits


def test_an_improbable_label_costs_all_of_it():
    """Early in training blanks drown a sentence; TensorFlow's own gives 707 here."""
    frames = ops.convert_to_tensor([[[1000.0, 0.0, 0.0]] * 3])

    def loss(frames):
        return ops.sum(ctc([[1]], frames, [1], [3]))

    value, (gradient,) = value_and_gradients(loss, frames)
    np.testing.assert_allclose(value, 1000 - np.log(3), rtol=1e-5)
    # Each of the three frames may be the one that says it.
    expected = np.cos(value) * np.array([1 / 3, -1 / 3, 0])
    np.testing.assert_allclose(gradient[0], [expected] * 3, atol=1e-3)


def test_what_stands_behind_a_label_is_of_no_matter():
    dirty = np.where(np.arange(3) < LABEL_LENGTHS[:, None], LABELS, -1)
    values = ctc(dirty, logits(), LABEL_LENGTHS, FRAME_LENGTHS)
    np.testing.assert_allclose(to_numpy(values), by_hand(), rtol=1e-5)


def test_a_batch_of_nothing_said():
    """Labels of no width, as padding makes them of empty texts alone."""
    nothing, frames = np.zeros((2, 0), "int32"), ops.zeros((2, 2, 3))
    assert to_numpy(fits_ctc(nothing, [0, 0], [0, 2])).tolist() == [True, True]
    values = ctc(nothing, frames, [0, 0], [2, 1])
    np.testing.assert_allclose(to_numpy(values), [2.197225, 1.098612], atol=1e-5)
    assert float(CTC()(nothing, frames)) == pytest.approx(2.197225)


def test_a_clip_without_frames_has_no_loss():
    values = ctc([[1], [0]], ops.zeros((2, 2, V)), [1, 0], [0, 0])
    assert to_numpy(values).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", thorough_but(["bfloat16"], ["bfloat16", "float16"]))
def test_is_computed_in_float32(dtype):
    frames = ops.cast(logits(), dtype)
    values = ctc(LABELS, frames, LABEL_LENGTHS, FRAME_LENGTHS)
    assert keras.backend.standardize_dtype(values.dtype) == "float32"
    np.testing.assert_allclose(to_numpy(values), by_hand(), rtol=0.05)


def test_compiles():
    def run(frames):
        return ctc(LABELS, frames, LABEL_LENGTHS, FRAME_LENGTHS)

    found = compiled(run)(ops.convert_to_tensor(logits()))
    np.testing.assert_allclose(to_numpy(found), by_hand(), rtol=1e-5)


@torch_only
def test_equals_torch():
    """Where labels fit; `zero_infinity` drops the others there."""
    import torch

    lengths = torch.tensor(np.minimum(FRAME_LENGTHS, [5, 2, 1, 2, 5]))
    frames = torch.log_softmax(torch.tensor(logits()), -1).transpose(0, 1)
    expected = torch.nn.functional.ctc_loss(
        frames,
        torch.tensor(LABELS),
        lengths,
        torch.tensor(LABEL_LENGTHS),
        reduction="none",
        zero_infinity=True,
    )
    found = ctc(LABELS, logits(), LABEL_LENGTHS, to_numpy(lengths))
    assert to_numpy(found)[1] == 0
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), rtol=1e-5)


# ----------------------------------------------------------------------- the Keras loss


def masked(numbers=None):
    numbers = logits() if numbers is None else numbers
    return with_mask(ops.convert_to_tensor(numbers), MASK)


def test_lengths_come_from_padding_and_from_the_mask():
    found = ctc_lengths(LABELS, masked(), 0)
    assert [to_numpy(x).tolist() for x in found] == [
        LABEL_LENGTHS.tolist(),
        FRAME_LENGTHS.tolist(),
    ]
    _, frames = ctc_lengths(LABELS, ops.convert_to_tensor(logits()), 0)
    assert to_numpy(frames).tolist() == [S] * len(LABELS)


@pytest.mark.parametrize("padding", [0.0, np.nan])
def test_blank_padding_stands_for_a_mask(padding):
    """And leaves the chance of a label as it is, if all frames are taken for real."""
    given = with_blank_padding(ops.convert_to_tensor(logits(padding)), MASK)
    _, lengths = ctc_lengths(LABELS, given, 0)
    assert to_numpy(lengths).tolist() == FRAME_LENGTHS.tolist()
    expected = float(CTC()(LABELS, masked()))
    assert float(CTC()(LABELS, given)) == pytest.approx(expected, rel=1e-6)
    values = ctc(LABELS, given, LABEL_LENGTHS, np.full(len(LABELS), S))
    np.testing.assert_allclose(to_numpy(values), by_hand(), rtol=1e-4)


def test_nan_is_no_padding():
    frames = np.full((1, 2, V), np.nan, "float32")
    assert np.isnan(float(CTC()(np.array([[1, 0]]), ops.convert_to_tensor(frames))))


def test_is_the_mean_per_character_of_what_fits():
    values = np.array(by_hand())
    expected = values.sum() / np.maximum(LABEL_LENGTHS, 1).sum()
    assert float(CTC()(LABELS, masked())) == pytest.approx(expected, rel=1e-5)
    impossible = LABELS.copy()
    impossible[2] = 2  # three alike in one frame
    others = [0, 1, 3, 4]
    expected = values[others].sum() / np.maximum(LABEL_LENGTHS, 1)[others].sum()
    assert float(CTC()(impossible, masked())) == pytest.approx(expected, rel=1e-5)


def test_no_label_that_fits_gives_zero():
    labels = np.ones((len(LABELS), S), "int32")
    assert float(CTC()(labels, masked())) == 0


@pytest.mark.parametrize("shape", [(5,), (5, 1)])
def test_sample_weight_gives_a_weighted_mean(shape):
    weight = np.random.default_rng(1).uniform(size=shape)
    flat, counts = weight.reshape(-1), np.maximum(LABEL_LENGTHS, 1)
    expected = (by_hand() * flat).sum() / (counts * flat).sum()
    found = CTC()(LABELS, masked(), sample_weight=weight)
    assert float(found) == pytest.approx(expected, rel=1e-5)


def test_another_blank_pads_the_labels_too():
    labels = (LABELS - 1) % V  # 2 is the blank
    frames = masked(np.roll(logits(), -1, axis=2))
    expected = float(CTC()(LABELS, masked()))
    assert float(CTC(blank=2)(labels, frames)) == pytest.approx(expected, rel=1e-5)


def test_reloads_from_its_config():
    loss = CTC(blank=3, name="mine")
    config = keras.losses.serialize(loss)
    assert config["registered_name"] == "keras_attention>CTC"
    assert keras.losses.deserialize(config).get_config() == loss.get_config()
