"""ONNX files answer as their models do."""

import sys

import keras
import numpy as np
import pytest

from keras_attention import export
from keras_attention.export import onnx
from tests.backend import BACKEND, tensorflow_only
from tests.keras_attention.export import models

# Sums of a few dozen float32 products in another order.
TOLERANCE = 1e-6


@pytest.mark.skipif(BACKEND == "tensorflow", reason="what other backends are told")
def test_other_backends_are_sent_to_tensorflow(tmp_path):
    with pytest.raises(ValueError, match="An ONNX file is written under TensorFlow"):
        export.write_onnx(models.small_cnn(), tmp_path / "model.onnx")


@tensorflow_only
def test_attention_of_any_batch_and_length(tmp_path):
    pytest.importorskip("tf2onnx")
    model = models.masked_attention()
    path = export.write_onnx(model, tmp_path / "made" / "model.onnx")
    for batch, length in ((1, 7), (3, 7), (2, 11)):
        inputs = models.sequences(batch, length)
        assert export.largest_difference(model, path, inputs) < TOLERANCE


@tensorflow_only
def test_images_of_any_batch(tmp_path):
    pytest.importorskip("tf2onnx")
    model = models.small_cnn()
    path = export.write_onnx(model, tmp_path / "model.onnx", opset_version=18)
    for batch in models.BATCHES:
        inputs = models.images(batch)
        assert export.largest_difference(model, path, inputs) < TOLERANCE
    answer = export.run_onnx(path, models.images(3))
    assert list(answer) == ["output_0"]
    np.testing.assert_allclose(answer["output_0"].sum(axis=1), 1, atol=1e-6)


@tensorflow_only
def test_exact_gelu(tmp_path):
    """Its `erfc` is none of tf2onnx's operations; here it is made of those."""
    pytest.importorskip("tf2onnx")
    x = keras.Input((9,), name="x")
    y = keras.ops.gelu(x, approximate=False)
    model = keras.Model(x, y)
    path = export.write_onnx(model, tmp_path / "model.onnx")
    inputs = {"x": np.linspace([-8], [8], 5).astype("float32") * np.ones(9, "float32")}
    assert export.largest_difference(model, path, inputs) < TOLERANCE


@tensorflow_only
@pytest.mark.slow
@pytest.mark.parametrize("name", models.VISION)
def test_the_twin_of_a_vision_model_in_half_precision(name, tmp_path):
    """Gates, rotations and attention pooling; bytes where the file takes floats."""
    pytest.importorskip("tf2onnx")
    twin = export.in_float32(models.VISION[name]("mixed_bfloat16"))
    path = export.write_onnx(twin, tmp_path / "model.onnx")
    for batch in models.BATCHES:
        inputs = models.pixels(twin, batch)
        assert export.largest_difference(twin, path, inputs) < 1e-5  # of logits


@tensorflow_only
def test_half_precision_is_sent_to_its_twin(tmp_path):
    pytest.importorskip("tf2onnx")
    x = keras.Input((4,), name="x")
    model = keras.Model(x, keras.layers.Dense(2, dtype="mixed_bfloat16")(x))
    with pytest.raises(
        ValueError, match=r"An ONNX file .*in_float32.*'mixed_bfloat16'"
    ):
        export.write_onnx(model, tmp_path / "model.onnx")


@tensorflow_only
def test_operations_that_onnx_lacks_are_named_on_one_line(tmp_path):
    pytest.importorskip("tf2onnx")
    x = keras.Input((4, 4), name="x")
    model = keras.Model(x, keras.ops.cholesky(x))
    with pytest.raises(ValueError, match=r"no ONNX form.*Cholesky") as caught:
        export.write_onnx(model, tmp_path / "model.onnx")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "model.onnx").exists()


@tensorflow_only
def test_what_the_converter_says_is_one_line(tmp_path, monkeypatch):
    tf2onnx = pytest.importorskip("tf2onnx")

    def convert(*_, **__):
        raise KeyError("first\n  second")

    monkeypatch.setattr(tf2onnx.convert, "from_function", convert)
    with pytest.raises(ValueError, match=r"cannot convert.*first") as caught:
        export.write_onnx(models.small_cnn(), tmp_path / "model.onnx")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "number"),
    [("float", "float32"), ("double", "float64"), ("uint8", "uint8"), ("bool", "bool")],
)
def test_numbers_of_the_runtime_are_numpys(kind, number):
    assert np.dtype(onnx._number(f"tensor({kind})")) == np.dtype(number)


@tensorflow_only
def test_without_the_converter_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    with pytest.raises(ImportError, match=r"keras-attention\[onnx\]"):
        export.write_onnx(models.small_cnn(), tmp_path / "model.onnx")


def test_without_the_runtime_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"keras-attention\[onnx\]"):
        export.run_onnx(tmp_path / "model.onnx", {})
