"""What stands for the inputs of a model."""

import keras
import pytest

from keras_attention import costs, models
from keras_attention.costs import specs

B, T, D = 2, 5, 12


def test_inputs_may_be_symbols_and_structures():
    model = models.RecurrentSeq2Seq(13, D)
    by_itself = costs.report(model, B, T).total
    ids = {name: keras.Input((None,), dtype="int32") for name in ("source", "target")}
    assert costs.report(model, B, T, inputs=ids).total == by_itself


def test_free_axes_get_a_size():
    ids = keras.Input((None,), dtype="int32")
    (x, both) = specs.fill([(None, None, D, None), {"ids": ids, "y": (3, 4)}], B, T)
    assert x.shape == (B, T, D, T)
    assert x.dtype == "float32"
    assert (both["ids"].shape, both["ids"].dtype) == ((B, T), "int32")
    assert both["y"].shape == (3, 4)


@pytest.mark.parametrize(
    ("inputs", "free"),
    [
        ([(None, None, D)], True),
        ([(None, T, D)], False),
        ([{"a": (None, T), "b": [(None, None)]}], True),
    ],
)
def test_the_batch_is_no_free_axis(inputs, free):
    assert specs.has_free_axes(inputs) is free


def test_models_know_their_inputs():
    x, y = keras.Input((T,)), keras.Input((D,))
    dense = keras.layers.Dense(2)
    functional = keras.Model([x, y], [dense(x), keras.layers.Dense(2)(y)])
    assert [len(one) for one in specs.model_inputs(functional)] == [2]
    sequential = keras.Sequential([keras.Input((D,)), keras.layers.Dense(2)])
    assert [one.shape for one in specs.model_inputs(sequential)] == [(None, D)]


def test_a_model_of_several_inputs():
    x, y = keras.Input((T, D)), keras.Input((T, D))
    model = keras.Model([x, y], keras.layers.Add()([x, y]))
    assert costs.report(model, batch=B).total.activation_bytes == 4 * B * T * D


def test_an_unbuilt_sequence_needs_inputs():
    with pytest.raises(ValueError, match="`inputs` must give the shapes"):
        specs.model_inputs(keras.Sequential([keras.layers.Dense(2)]))
