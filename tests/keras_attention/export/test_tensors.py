"""Models as functions of named tensors."""

import keras
import numpy as np
import pytest

from keras_attention.export._tensors import (
    as_arrays,
    by_name,
    endpoint,
    failed,
    named,
    require_tensorflow,
)
from tests.backend import BACKEND, tensorflow_only, to_numpy
from tests.keras_attention.export import models


@pytest.mark.skipif(BACKEND == "tensorflow", reason="what other backends are told")
def test_other_backends_are_sent_to_tensorflow():
    with pytest.raises(ValueError, match=r"A file is written under TensorFlow: load"):
        require_tensorflow("A file")


@tensorflow_only
def test_the_signature_has_the_names_and_shapes_of_the_inputs():
    answer, signature = endpoint(models.masked_attention())
    assert [(spec.name, *spec.shape.as_list()) for spec in signature] == [
        ("sequence", None, None, 6),
        ("valid", None, None),
    ]
    output = answer(*models.sequences(2, 5).values())
    assert {name: tuple(x.shape) for name, x in output.items()} == {
        "vectors": (2, 5, 6),
        "scores": (2, 2, 5, 5),
    }


@tensorflow_only
def test_the_model_runs_at_inference():
    inputs = keras.Input((4,), name="x")
    model = keras.Model(inputs, keras.layers.Dropout(0.9)(inputs))
    answer, _ = endpoint(model)
    x = keras.ops.ones((3, 4))
    assert to_numpy(answer(x)["output_0"]).tolist() == to_numpy(x).tolist()


@pytest.mark.parametrize("structure", ["tensor", "list", "dict", "sequential"])
def test_inputs_of_every_structure_are_taken_by_name(structure):
    x = keras.Input((2,), name="x")
    twice = keras.layers.Rescaling(2)
    model = {
        "tensor": lambda: keras.Model(x, twice(x)),
        "list": lambda: keras.Model([x], twice(x)),
        "dict": lambda: keras.Model({"x": x}, twice(x)),
        "sequential": lambda: keras.Sequential([x, twice]),
    }[structure]()
    output = by_name(model)({"x": np.array([[1.0, 2.0]], "float32")})
    (found,) = named(output).values()
    assert to_numpy(found).tolist() == [[2, 4]]


@pytest.mark.parametrize("model", [models.subclassed, keras.Sequential])
def test_a_model_without_inputs_is_refused(model):
    with pytest.raises(ValueError, match=r"functional or a built sequential model"):
        by_name(model())


def test_arrays_are_of_the_numbers_that_are_taken():
    arrays = as_arrays({"x": [1, 2], "y": np.ones(2)}, {"y": "int64", "x": "float32"})
    assert {name: str(x.dtype) for name, x in arrays.items()} == {
        "x": "float32",
        "y": "int64",
    }
    for inputs in ({"x": 1}, {"x": 1, "y": 2, "z": 3}):
        with pytest.raises(ValueError, match=r"by the names \['x', 'y'\].*inputs="):
            as_arrays(inputs, {"x": "float32", "y": "float32"})


def test_errors_of_others_are_one_line():
    assert str(failed("It failed.", OSError("a\n\n  b"))) == "It failed. Received: a b"
    assert str(failed("It failed.", OSError())) == "It failed. Received: OSError"
    assert len(str(failed("It failed.", OSError(900 * "word ")))) < 330


def test_outputs_without_names_are_numbered():
    assert named({"label": 1, "a": 2}) == {"label": 1, "a": 2}
    assert named(7) == {"output_0": 7}
    assert named([7, (8, 9)]) == {"output_0": 7, "output_1": 8, "output_2": 9}
