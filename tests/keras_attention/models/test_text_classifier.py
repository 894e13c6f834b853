"""Classifiers of texts: padding, order, sizes and what comes back from a config."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import models
from keras_attention.interpretation import capture
from keras_attention.models.text_classifier import KINDS
from tests.backend import to_numpy

V, C, D = 13, 3, 8


def classifier(kind, **options):
    sizes = {"hidden_dim": D, "intermediate_dim": 10, "num_heads": 2, **options}
    model = models.TextClassifier(V, C, kind, **sizes)
    noise = np.random.default_rng(7)
    weights = [w + noise.normal(size=w.shape) * 0.3 for w in model.get_weights()]
    model.set_weights(weights)
    return model


def logits(model, *rows):
    width = max(map(len, rows))
    ids = [[*row, *[0] * (width - len(row))] for row in rows]
    return to_numpy(model(np.array(ids), training=False))


@pytest.mark.parametrize("kind", KINDS)
def test_padding_is_not_seen(kind):
    model = classifier(kind)
    alone = np.concatenate([logits(model, [5, 6, 7]), logits(model, [8])])
    together = logits(model, [5, 6, 7], [8], [1, 2, 3, 4, 5, 6])[:2]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert np.abs(alone[0] - alone[1]).max() > 1e-3


def test_padding_inside_a_text_is_as_if_it_were_not_there():
    """Whatever stands before: what occlusion needs of a recurrent network."""
    model = classifier("additive_pooling")
    expected = logits(model, [5, 6])
    for row in ([0, 5, 6], [5, 0, 6], [5, 6, 0]):
        np.testing.assert_allclose(logits(model, row), expected, atol=1e-5)
    encoder = model.get_layer("encoder")  # cuDNN would refuse the first two on a GPU
    assert not encoder.forward_layer.use_cudnn
    assert not encoder.backward_layer.use_cudnn


@pytest.mark.parametrize("kind", KINDS)
def test_c22_a_text_of_padding_alone_is_a_vector_of_zeros(kind):
    """C22, C41: and it leaves the other texts alone."""
    model = classifier(kind)
    hidden, last = (model.get_layer(name) for name in ("hidden", "logits"))
    expected = to_numpy(last(hidden(ops.zeros((1, D)))))
    rows = logits(model, [], [5, 6], [])
    np.testing.assert_allclose(rows[[0, 2]], np.repeat(expected, 2, 0), atol=1e-6)
    np.testing.assert_allclose(rows[1:2], logits(model, [5, 6]), atol=1e-5)
    np.testing.assert_allclose(logits(model, [0]), expected, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_which_kinds_see_order(kind):
    model = classifier(kind)
    change = np.abs(logits(model, [5, 6, 7]) - logits(model, [7, 6, 5])).max()
    if kind in ("mean_embeddings", "self_attention"):
        assert change < 1e-5
    else:
        assert change > 1e-4


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [
        ("self_attention", [(2, 4, 4)]),
        ("additive_pooling", [(2, 1, 4)]),
        ("transformer", [(2, 2, 4, 4)] * 2),
    ],
)
def test_attention_is_captured_and_spares_padding(kind, shapes):
    record = capture(classifier(kind), np.array([[5, 6, 7, 8], [5, 0, 0, 0]]))
    assert [record[i].shape for i in range(len(record))] == shapes
    for name in record:
        last = record.numpy(name)[1].reshape(-1, 4)[0]  # of the first, real, query
        np.testing.assert_allclose(last, [1, 0, 0, 0], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_config_makes_the_same_model(kind):
    model = classifier(kind, dropout=0.3, dtype="mixed_bfloat16")
    assert model.output.dtype == "float32"
    copy = models.TextClassifier.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    np.testing.assert_array_equal(logits(copy, [5, 6]), logits(model, [5, 6]))
    assert copy.get_config() == model.get_config()


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_answers_alike(kind, tmp_path):
    model = classifier(kind)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(logits(loaded, [5, 6]), logits(model, [5, 6]), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "gru"}, "`kind` must be one of 'additive_pooling'"),
        ({"hidden_dim": 7}, "`hidden_dim` must be even"),
        ({"num_classes": 0}, "`num_classes` must be a positive integer"),
        ({"kind": "transformer", "num_heads": 3}, "`num_heads` must divide"),
        ({"kind": "transformer", "num_layers": 0}, "`num_layers` must be a positive"),
    ],
)
def test_what_cannot_be_built_is_refused(options, message):
    options = {"vocabulary_size": V, "num_classes": C, "hidden_dim": D, **options}
    with pytest.raises(ValueError, match=message):
        models.TextClassifier(**options)
