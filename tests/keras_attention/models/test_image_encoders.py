"""Image encoders of a captioner: which classifiers they may start from."""

import keras
import numpy as np
import pytest

from keras_attention import models
from keras_attention.models.vision_transformer import POOLINGS
from tests.backend import to_numpy
from tests.keras_attention.models import toys
from tests.keras_attention.models.captioners import IMAGES, SEES, SHAPE, make


def classifier(encoder, **options):
    sizes = {"num_classes": 5, "input_shape": SHAPE, **SEES[encoder]["encoder_options"]}
    kinds = {"cnn": models.AttentionCNN, "vit": models.VisionTransformer}
    return toys.sharpened(kinds[encoder](**{**sizes, **options}))


@pytest.mark.parametrize("pooling", POOLINGS)
def test_features_are_the_patches_without_the_class_token(pooling):
    model = classifier("vit", pooling=pooling)
    norm = keras.Model(model.input, model.get_layer("encoder_norm").output)
    tokens = to_numpy(norm(IMAGES))
    assert tokens.shape[1] == 6 + (pooling == "class_token")
    found = to_numpy(model.feature_model()(IMAGES))
    np.testing.assert_array_equal(found, tokens[:, -6:])


@pytest.mark.parametrize(
    ("encoder", "kind", "other"),
    [
        ("cnn", "gru", {"input_shape": (None, None, 3)}),
        ("vit", "luong", {"num_classes": 7}),
    ],
)
def test_starts_from_a_classifier(encoder, kind, other):
    model, trained = make(kind), classifier(encoder, dropout=0.3, **other)
    before = to_numpy(model.get_layer("projection").kernel)
    model.load_encoder(trained)
    features = to_numpy(trained.feature_model()(IMAGES))
    np.testing.assert_array_equal(to_numpy(model.encoder(IMAGES)), features)
    np.testing.assert_array_equal(
        to_numpy(model.get_layer("projection").kernel), before
    )


def test_starts_from_a_transformer_of_another_resolution():
    model = make("luong")
    trained = classifier("vit", input_shape=(16, 16, 3))
    model.load_encoder(trained)
    expected = trained.at_resolution(SHAPE[:2]).feature_model()(IMAGES)
    np.testing.assert_array_equal(to_numpy(model.encoder(IMAGES)), to_numpy(expected))


def test_starts_from_another_captioner():
    model, other = make("gru"), toys.sharpened(make("none"))
    model.load_encoder(other)
    np.testing.assert_array_equal(
        to_numpy(model.encoder(IMAGES)), to_numpy(other.encoder(IMAGES))
    )


def test_a_frozen_encoder_stays():
    model = make()
    model.encoder.trainable = False
    names = {variable.path.split("/")[0] for variable in model.trainable_variables}
    assert names == {"projection", "embedding", "decoder"}


def test_starts_from_a_file(tmp_path):
    """As a saved run has it, its lists for tuples."""
    trained = classifier("cnn")
    trained.save(tmp_path / "model.keras")
    model = make()
    model.load_encoder(keras.saving.load_model(tmp_path / "model.keras"))
    features = to_numpy(trained.feature_model()(IMAGES))
    np.testing.assert_array_equal(to_numpy(model.encoder(IMAGES)), features)


@pytest.mark.parametrize(
    ("kind", "encoder", "options", "words"),
    [
        ("gru", "vit", {}, "encoder of this captioner, AttentionCNN.*'VisionTran"),
        ("luong", "cnn", {}, "encoder of this captioner, VisionTransformer.*'Atten"),
        (
            "gru",
            "cnn",
            {"filters": (4, 9)},
            r"filters=\(4, 8\)\. Received: filters=\(4, 9",
        ),
        ("gru", "cnn", {"attention": "spatial"}, r"attention='none'\. Received: atten"),
        (
            "gru",
            "cnn",
            {"input_shape": (8, 12, 1)},
            r"channels=3\. Received: channels=1",
        ),
        ("luong", "vit", {"num_heads": 1}, r"num_heads=2\. Received: num_heads=1"),
        ("luong", "vit", {"pooling": "mean"}, r"class_token=True\. Received: class_"),
        ("luong", "vit", {"patch_size": 2}, r"patch_size=\(4, 4\)\. Received: patch"),
    ],
)
def test_another_encoder_is_refused(kind, encoder, options, words):
    model, trained = make(kind), classifier(encoder, **options)
    before = to_numpy(model.encoder(IMAGES))
    with pytest.raises(ValueError, match=words):
        model.load_encoder(trained)
    np.testing.assert_array_equal(to_numpy(model.encoder(IMAGES)), before)


def test_a_resolution_that_patches_do_not_fill():
    with pytest.raises(ValueError, match="`patch_size` must divide"):
        make(
            "luong", encoder_options={**SEES["vit"]["encoder_options"], "patch_size": 5}
        )
