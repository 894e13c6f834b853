"""Classifiers of sounds: padding, order, sizes and what comes back from a config."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import models
from keras_attention.interpretation import capture
from keras_attention.models.sound_classifier import KINDS
from tests.backend import to_numpy, value_and_gradients

C, D, F = 3, 8, 5


def classifier(kind, **options):
    sizes = {"hidden_dim": D, "intermediate_dim": 10, "num_heads": 2, "num_layers": 2}
    model = models.SoundClassifier(C, F, kind, **{**sizes, **options})
    noise = np.random.default_rng(7)
    weights = [w + noise.normal(size=w.shape) * 0.3 for w in model.get_weights()]
    model.set_weights(weights)
    return model


def clips(*lengths):
    return [
        np.random.default_rng([3, n]).normal(size=(n, F)).astype("float32")
        for n in lengths
    ]


def batch(*rows, padding=0.0):
    """Frames and mask of clips, the padding behind them."""
    width = max(map(len, rows))
    frames = np.full((len(rows), width, F), padding, "float32")
    for row, clip in zip(frames, rows, strict=True):
        row[: len(clip)] = clip
    mask = np.arange(width) < np.array([len(row) for row in rows])[:, None]
    return {"frames": frames, "padding_mask": mask}


def logits(model, inputs):
    return to_numpy(model(inputs, training=False))


@pytest.mark.parametrize("kind", KINDS)
def test_padding_is_not_seen_whatever_it_holds(kind):
    model = classifier(kind)
    short, middle, long = clips(2, 3, 6)
    alone = [logits(model, batch(clip))[0] for clip in (short, middle)]
    for padding in (0.0, np.nan):
        together = logits(model, batch(short, middle, long, padding=padding))
        np.testing.assert_allclose(together[:2], alone, atol=1e-5)
    assert np.abs(alone[0] - alone[1]).max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_nan_in_padding_reaches_no_gradient(kind):
    model = classifier(kind)
    given = batch(*clips(2, 4), padding=np.nan)
    mask = given["padding_mask"]
    frames, there = map(ops.convert_to_tensor, (given["frames"], mask))

    def answer(frames):
        return model({"frames": frames, "padding_mask": there}, training=False)

    value, (gradient,) = value_and_gradients(answer, frames)
    assert np.isfinite(value).all()
    np.testing.assert_array_equal(gradient[~mask], 0)
    assert np.abs(gradient[mask]).max() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_c22_a_clip_of_padding_alone_is_finite(kind):
    """C22: and it leaves the other clips alone."""
    model = classifier(kind)
    (clip,) = clips(4)
    rows = logits(model, batch(clip[:0], clip, clip[:0]))
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows[0], rows[2], atol=1e-6)
    np.testing.assert_allclose(rows[1:2], logits(model, batch(clip)), atol=1e-5)
    if kind != "keyword_transformer":  # whose class token attends to itself
        bias = to_numpy(model.get_layer("logits").bias)
        np.testing.assert_allclose(rows[0], bias, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_which_kinds_hear_order(kind):
    model = classifier(kind)
    (clip,) = clips(5)
    change = np.abs(logits(model, batch(clip)) - logits(model, batch(clip[::-1]))).max()
    assert change < 1e-5 if kind == "mean_frames" else change > 1e-4


def test_attention_is_captured_and_spares_padding():
    inputs = batch(*clips(4, 1))
    record = capture(classifier("keyword_transformer"), inputs)
    assert [record[i].shape for i in range(len(record))] == [(2, 2, 5, 5)] * 2
    token = record.numpy(1)[1, :, 0]
    np.testing.assert_allclose(token[:, :2].sum(-1), 1, atol=1e-5)  # itself, one frame
    record = capture(classifier("temporal_attention"), inputs)
    scores = record.numpy("attention")
    np.testing.assert_allclose(scores.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(scores[1], [1, 0, 0, 0], atol=1e-6)


def test_the_defaults_are_kwt_1():
    """The paper counts 607 thousand parameters, for 12 words and 40 numbers."""
    model = models.SoundClassifier(12, frame_size=40)
    assert model.count_params() == pytest.approx(607_000, rel=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_the_config_makes_the_same_model(kind):
    model = classifier(kind, dropout=0.3, normalize_first=True, dtype="mixed_bfloat16")
    assert model.output.dtype == "float32"
    copy = models.SoundClassifier.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    inputs = batch(*clips(4))
    np.testing.assert_array_equal(logits(copy, inputs), logits(model, inputs))
    assert copy.get_config() == model.get_config()


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_answers_alike(kind, tmp_path):
    model = classifier(kind)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    inputs = batch(*clips(4, 2))
    np.testing.assert_allclose(logits(loaded, inputs), logits(model, inputs), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "gru"}, "`kind` must be one of 'keyword_transformer'"),
        ({"frame_size": 0}, "`frame_size` must be a positive integer"),
        ({"num_heads": 3}, "`num_heads` must divide"),
        ({"num_layers": 0}, "`num_layers` must be a positive"),
        ({"max_sequence_length": 0}, "`max_sequence_length` must be a positive"),
        ({"kind": "temporal_attention", "hidden_dim": 7}, "`hidden_dim` must be even"),
    ],
)
def test_what_cannot_be_built_is_refused(options, message):
    options = {"num_classes": C, "frame_size": F, "hidden_dim": D, **options}
    with pytest.raises(ValueError, match=message):
        models.SoundClassifier(**options)


def test_more_frames_than_positions_are_refused():
    model = classifier("keyword_transformer", max_sequence_length=3)
    assert logits(model, batch(*clips(3))).shape == (1, C)
    with pytest.raises(ValueError, match="must lie within positions"):
        model(batch(*clips(4)))
