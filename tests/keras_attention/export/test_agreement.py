"""The figure that says whether a file answers as its model."""

import keras
import numpy as np
import pytest

from keras_attention import export
from keras_attention.export import agreement


def doubling():
    """A model of two named outputs: twice and three times its input."""
    x = keras.Input((2,), name="x")
    return keras.Model(x, {"twice": 2 * x, "thrice": 3 * x})


@pytest.fixture
def difference(monkeypatch):
    """The difference from a file that answers `answer`."""

    def measure(answer):
        runtimes = {".onnx": lambda path, inputs: answer}
        monkeypatch.setattr(agreement, "RUNTIMES", runtimes)
        x = np.array([[1, 2]], "float32")
        return export.largest_difference(doubling(), "model.onnx", {"x": x})

    return measure


def test_the_largest_over_all_outputs_by_name(difference):
    thrice, twice = np.array([[3, 6]]), np.array([[2, 4]])
    assert difference({"thrice": thrice, "twice": twice}) == 0
    assert difference({"thrice": thrice, "twice": twice - [0, 0.5]}) == 0.5
    assert difference({"thrice": thrice + np.array([2, 0]), "twice": twice - 0.5}) == 2


def test_nan_is_no_agreement(difference):
    answer = {"twice": np.array([[np.nan, 4]]), "thrice": np.array([[3, 6]])}
    assert np.isnan(difference(answer))


@pytest.mark.parametrize(
    "answer",
    [
        {"twice": np.array([[2, 4]])},
        {"twice": np.array([[2, 4]]), "other": np.array([[3, 6]])},
        {"twice": np.array([2, 4]), "thrice": np.array([[3, 6]])},
    ],
)
def test_outputs_must_be_those_of_the_model(difference, answer):
    with pytest.raises(ValueError, match=r"must have the outputs.*'thrice': \(1, 2\)"):
        difference(answer)


def test_other_suffixes_are_refused():
    with pytest.raises(ValueError, match=r"one of '\.onnx', '\.tflite'.*'\.h5'"):
        export.largest_difference(doubling(), "model.h5", {})
