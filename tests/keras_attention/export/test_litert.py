"""LiteRT files answer as their models do."""

import sys

import keras
import numpy as np
import pytest

from keras_attention import export
from tests.backend import BACKEND, tensorflow_only
from tests.keras_attention.export import models

# Sums of a few dozen float32 products in another order.
TOLERANCE = 1e-6


@pytest.mark.skipif(BACKEND == "tensorflow", reason="what other backends are told")
def test_other_backends_are_sent_to_tensorflow(tmp_path):
    with pytest.raises(ValueError, match="A LiteRT file is written under TensorFlow"):
        export.write_litert(models.small_cnn(), tmp_path / "model.tflite")


@tensorflow_only
def test_attention_of_any_batch_and_length(tmp_path):
    pytest.importorskip("ai_edge_litert")
    model = models.masked_attention()
    path = export.write_litert(model, tmp_path / "made" / "model.tflite")
    for batch, length in ((1, 7), (3, 7), (2, 11)):
        inputs = models.sequences(batch, length)
        assert export.largest_difference(model, path, inputs) < TOLERANCE


@tensorflow_only
def test_images_of_any_batch(tmp_path):
    pytest.importorskip("ai_edge_litert")
    model = models.small_cnn()
    path = export.write_litert(model, tmp_path / "model.tflite")
    for batch in models.BATCHES:
        inputs = models.images(batch)
        assert export.largest_difference(model, path, inputs) < TOLERANCE
    answer = export.run_litert(path, models.images(3))
    assert list(answer) == ["output_0"]
    np.testing.assert_allclose(answer["output_0"].sum(axis=1), 1, atol=1e-6)


@tensorflow_only
@pytest.mark.slow
@pytest.mark.parametrize("name", models.VISION)
def test_the_twin_of_a_vision_model_in_half_precision(name, tmp_path):
    """Gates, rotations and attention pooling; bytes where the file takes floats."""
    pytest.importorskip("ai_edge_litert")
    twin = export.in_float32(models.VISION[name]("mixed_bfloat16"))
    path = export.write_litert(twin, tmp_path / "model.tflite")
    for batch in models.BATCHES:
        inputs = models.pixels(twin, batch)
        assert export.largest_difference(twin, path, inputs) < 1e-5  # of logits


@tensorflow_only
def test_half_precision_is_sent_to_its_twin(tmp_path):

    x = keras.Input((4,), name="x")
    model = keras.Model(x, keras.layers.Dense(2, dtype="mixed_bfloat16")(x))
    with pytest.raises(
        ValueError, match=r"A LiteRT file .*in_float32.*'mixed_bfloat16'"
    ):
        export.write_litert(model, tmp_path / "model.tflite")


@tensorflow_only
def test_operations_that_litert_lacks_are_named_on_one_line(tmp_path):
    x = keras.Input((4, 4), name="x")
    model = keras.Model(x, keras.ops.cholesky(x))
    with pytest.raises(ValueError, match=r"no such operations.*Cholesky") as caught:
        export.write_litert(model, tmp_path / "model.tflite")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "model.tflite").exists()


@tensorflow_only
def test_what_the_converter_says_is_one_line(tmp_path, monkeypatch):
    import tensorflow as tf

    class Converter:
        def convert(self):
            raise RuntimeError("first\n  second\n" + 900 * "x ")

    monkeypatch.setattr(
        tf.lite.TFLiteConverter, "from_saved_model", lambda *_, **__: Converter()
    )
    with pytest.raises(ValueError, match=r"converter refuses.*first second") as caught:
        export.write_litert(models.small_cnn(), tmp_path / "model.tflite")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_file_that_does_not_load_is_named_on_one_line(tmp_path):
    pytest.importorskip("ai_edge_litert")
    path = tmp_path / "model.tflite"
    path.write_bytes(b"nothing of LiteRT")
    with pytest.raises(ValueError, match=r"cannot load model\.tflite") as caught:
        export.run_litert(path, {})
    assert "\n" not in str(caught.value)


def test_without_the_runtime_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(ImportError, match=r"keras-attention\[litert\]"):
        export.run_litert(tmp_path / "model.tflite", {})
