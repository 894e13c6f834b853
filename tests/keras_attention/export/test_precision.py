"""Twins in float32 answer as their models do."""

import keras
import numpy as np
import pytest

from keras_attention import export
from keras_attention.export.precision import require_float32
from tests.backend import to_numpy
from tests.keras_attention.export import models


def moved(model):
    """The model with weights that no initializer makes again."""
    random = np.random.default_rng(0)
    numbers = [np.asarray(x, "float32") for x in model.get_weights()]
    model.set_weights([x + 0.1 * abs(random.normal(size=x.shape)) for x in numbers])
    return model


def computed_in(model):
    return {x.compute_dtype for x in model._flatten_layers(include_self=False)}


@pytest.mark.parametrize("name", models.VISION)
def test_of_a_vision_model(name):
    model = moved(models.VISION[name]("mixed_bfloat16"))
    twin = export.in_float32(model)
    assert type(twin) is type(model)
    assert (computed_in(model), computed_in(twin)) == (
        {"float32", "bfloat16"},
        {"float32"},
    )
    images = models.pixels(model, 3)["images"]
    expected, found = to_numpy(model(images)), to_numpy(twin(images))
    # Some tens of roundings of 2^-9 in a row; backends make them in other places.
    assert np.abs(found - expected).mean() < 2e-2
    plain = models.VISION[name]()
    plain.set_weights(model.get_weights())
    np.testing.assert_array_equal(found, to_numpy(plain(images)))


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16", "bfloat16"])
def test_of_a_model_of_any_layers(dtype):
    """One shared, one inside another, one inside a model, one operation."""
    x = keras.Input((3, 4), name="x")
    dense = keras.layers.Dense(4, dtype=dtype)
    inner = keras.Sequential([keras.Input((3, 4)), keras.layers.Dense(5, dtype=dtype)])
    wrapped = keras.layers.TimeDistributed(keras.layers.Dense(4, dtype=dtype))
    y = wrapped(dense(dense(x))) + 1
    model = moved(keras.Model({"x": x}, {"y": inner(y)}))
    twin = export.in_float32(model)
    assert computed_in(twin) == {"float32"}
    inputs = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    expected, found = (to_numpy(each({"x": inputs})["y"]) for each in (model, twin))
    np.testing.assert_allclose(found, expected, rtol=2e-2, atol=2e-2)
    assert len(twin.weights) == len(model.weights) == 6
    for old, new in zip(model.weights, twin.weights, strict=True):
        assert old is not new
        np.testing.assert_array_equal(to_numpy(new), to_numpy(old))


def test_of_a_sequential_model_that_learns():
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(2, dtype="mixed_bfloat16")]
    )
    model.compile("adam", "mse")
    twin = export.in_float32(model)
    assert isinstance(twin, keras.Sequential)
    assert computed_in(twin) == {"float32"}
    assert not twin.compiled


def test_a_model_that_its_config_does_not_make_is_refused():
    x, dense = keras.Input((3, 4)), keras.layers.Dense(4)
    model = keras.Model(x, keras.layers.TimeDistributed(dense)(dense(x)))
    with pytest.raises(ValueError, match="come back from its config with the same"):
        export.in_float32(model)


def test_a_model_that_does_not_know_its_inputs_is_refused():
    with pytest.raises(ValueError, match="must be a functional or a built sequential"):
        export.in_float32(models.subclassed())


def test_half_precision_is_found_at_any_depth():
    x = keras.Input((4,))
    dense = keras.layers.Dense(4, dtype="mixed_bfloat16")
    model = keras.Model(x, keras.Sequential([dense, keras.layers.Dense(2)])(x))
    with pytest.raises(
        ValueError, match=r"A file holds .*in_float32.*'mixed_bfloat16'"
    ):
        require_float32(model, "A file")
    require_float32(export.in_float32(model), "A file")


def test_the_policy_of_keras_alone_is_no_half_precision():
    """A model itself computes nothing."""
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        x = keras.Input((4,))
        model = keras.Model(x, keras.layers.Dense(4, dtype="float32")(x))
    finally:
        keras.config.set_dtype_policy("float32")
    require_float32(model, "A file")
