"""Projections into heads and back: shapes, options shared and apart, config."""

import keras
import numpy as np
import pytest

from keras_attention import layers
from keras_attention.layers._projections import HeadProjections
from tests.backend import tensor, to_numpy


class Projected(HeadProjections, keras.layers.Layer):
    """A query into heads and out again."""

    def build(self, input_shape):
        self.query_dense = self._heads_dense(
            "query", input_shape, (self.num_heads, self.value_dim)
        )
        self.output_dense = self._output_dense(input_shape)

    def call(self, inputs):
        return self.output_dense(self.query_dense(inputs))


def test_a_bias_of_heads_of_one_number():
    """As many heads as positions: nothing may take one axis for the other."""
    layer = Projected(num_heads=5, key_dim=1)
    layer.build((2, 5, 17))
    layer.query_dense.bias.assign(np.arange(5.0)[:, None])
    x = tensor(2, 5, 17)
    plain = np.einsum("btd,dnh->btnh", to_numpy(x), to_numpy(layer.query_dense.kernel))
    expected = plain + np.arange(5.0)[:, None]
    np.testing.assert_allclose(to_numpy(layer.query_dense(x)), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "shape"),
    [({}, (2, 5, 17)), ({"output_shape": 7}, (2, 5, 7))],
    ids=str,
)
def test_shapes(options, shape):
    layer = Projected(num_heads=3, key_dim=11, value_dim=13, **options)
    assert to_numpy(layer(tensor(2, 5, 17))).shape == shape
    assert layer.query_dense.kernel.shape == (17, 3, 13)
    assert layer.output_dense.kernel.shape == (3, 13, shape[-1])


def test_several_output_axes():
    layer = Projected(num_heads=3, key_dim=11, output_shape=(7, 5))
    assert to_numpy(layer(tensor(2, 5, 17))).shape == (2, 5, 7, 5)


def test_options_hold_for_all():
    layer = Projected(
        num_heads=3,
        key_dim=11,
        use_bias=False,
        kernel_regularizer="l2",
        kernel_constraint="non_neg",
    )
    layer(tensor(2, 5, 17))
    for dense in (layer.query_dense, layer.output_dense):
        assert dense.bias is None
        assert isinstance(dense.kernel_regularizer, keras.regularizers.L2)
        assert isinstance(dense.kernel_constraint, keras.constraints.NonNeg)


def test_one_initializer_starts_no_two_alike():
    initializer = keras.initializers.RandomNormal()
    layer = Projected(num_heads=3, key_dim=17 // 3, kernel_initializer=initializer)
    layer(tensor(2, 5, 15))
    first, second = (
        to_numpy(x.kernel).ravel() for x in (layer.query_dense, layer.output_dense)
    )
    assert first.shape == second.shape
    assert not np.allclose(first, second)


def test_config_has_every_argument():
    options = {
        "num_heads": 3,
        "key_dim": 11,
        "value_dim": 13,
        "use_bias": False,
        "output_shape": (7,),
        "kernel_initializer": "he_normal",
        "bias_initializer": "ones",
        "kernel_regularizer": "l2",
        "bias_regularizer": "l1",
        "activity_regularizer": "l2",
        "kernel_constraint": "non_neg",
        "bias_constraint": "max_norm",
    }
    config = Projected(**options).get_config()
    assert options.keys() <= config.keys()
    assert Projected.from_config(config).get_config() == config


def test_sizes_are_positive():
    with pytest.raises(ValueError, match="`value_dim` must be a positive integer"):
        Projected(num_heads=3, key_dim=11, value_dim=0)


@pytest.mark.filterwarnings("ignore:Layer .* does not have a `quantize` method")
def test_a_model_quantizes_its_projections():
    """As Keras's own: `Model.quantize` leaves out kinds of layers it does not know."""
    x = keras.Input((5, 16))
    y = layers.MultiHeadAttention(num_heads=2, key_dim=8)(x, x)
    model = keras.Model(x, y)
    numbers = tensor(2, 5, 16)
    before = to_numpy(model(numbers))
    model.quantize("int8")
    (attention,) = (x for x in model.layers if isinstance(x, layers.MultiHeadAttention))
    assert attention.query_dense.quantization_mode == "int8"
    # 8 bits keep two digits of numbers of size 1.
    np.testing.assert_allclose(to_numpy(model(numbers)), before, atol=0.05)
