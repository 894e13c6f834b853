import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import tensor, to_numpy

UNIT_VARIANCE = 1 - 1e-3  # with Keras's epsilon, normalisation changes nothing


def set_weights(layer, **values):
    """Zeros but for the weights that end in a name, and norms that change nothing."""
    for weight in layer.weights:
        name = weight.path.rpartition("/")[0].rpartition("/")[2]
        key = f"{name}_{weight.name}"
        neutral = {"gamma": 1, "moving_variance": UNIT_VARIANCE}.get(weight.name, 0)
        weight.assign(np.broadcast_to(values.pop(key, neutral), weight.shape))
    assert not values
    return layer


def centre(value):
    kernel = np.zeros((3, 3, 1, 1))
    kernel[1, 1] = value
    return kernel


def test_equals_its_values_by_hand():
    """One position (1, 3): the channels say (1, 0), the positions 1.

    The unit of the channels holds 1 + 3, a quarter of which goes to the first. That of
    the positions holds 1, which the convolutions double twice.
    """
    x = np.array([[[[1, 3]]]], "float32")
    layer = layers.BottleneckAttention(ratio=2)
    layer(x)
    set_weights(
        layer,
        squeeze_kernel=1,
        excite_kernel=[[0.25, 0]],
        reduce_kernel=[[1], [0]],
        conv_0_kernel=centre(2),
        conv_1_kernel=centre(2),
        project_kernel=0.25,
    )
    output, gate = layer(x, return_attention_scores=True)
    expected = np.array([0.880797, 0.731059])  # sigmoids of 2 and 1
    np.testing.assert_allclose(to_numpy(gate)[0, 0, 0], expected, atol=1e-6)
    np.testing.assert_allclose(to_numpy(output), x * (1 + expected), atol=1e-5)


def test_each_hidden_layer_is_rectified():
    """Negative units leave only the normalisations' beta."""
    x = np.array([[[[1, 3]]]], "float32")
    layer = layers.BottleneckAttention(ratio=2)
    layer(x)
    set_weights(
        layer,
        squeeze_kernel=-1,
        excite_kernel=5,
        reduce_kernel=-1,
        conv_0_kernel=7,
        conv_1_kernel=7,
        project_kernel=5,
        channel_norm_beta=[2, 0],
        spatial_norm_beta=-1,
    )
    _, gate = layer(x, return_attention_scores=True)
    expected = [0.731059, 0.268941]  # sigmoids of 1 and -1
    np.testing.assert_allclose(to_numpy(gate)[0, 0, 0], expected, atol=1e-6)


@pytest.mark.parametrize("rate", [1, 3])
def test_convolutions_read_in_steps_of_the_dilation(rate):
    layer = layers.BottleneckAttention(ratio=2, dilation_rate=rate)
    x = np.zeros((1, 17, 17, 2), "float32")
    layer(x)
    set_weights(
        layer,
        reduce_kernel=[[1], [0]],
        conv_0_kernel=1,
        conv_1_kernel=1,
        project_kernel=1,
    )
    x[0, 8, 8, 0] = 1
    _, gate = layer(ops.convert_to_tensor(x), return_attention_scores=True)
    seen = np.zeros((17, 17), bool)
    seen[8 - 2 * rate : 9 + 2 * rate : rate, 8 - 2 * rate : 9 + 2 * rate : rate] = True
    np.testing.assert_array_equal(to_numpy(gate)[0, ..., 0] > 0.5, seen)


def test_training_normalises_by_the_batch():
    """The means of channels over a batch become 0, so that gates differ around 1/2."""
    layer = layers.BottleneckAttention(ratio=2)
    x = tensor(8, 3, 3, 16)
    layer(x)
    before = [to_numpy(w) for w in layer.non_trainable_variables]
    _, gate = layer(x, training=True, return_attention_scores=True)
    logits = np.log(to_numpy(gate) / (1 - to_numpy(gate)))
    np.testing.assert_allclose(logits.mean((0, 1, 2)), 0, atol=1e-4)
    after = [to_numpy(w) for w in layer.non_trainable_variables]
    assert all((a != b).any() for a, b in zip(after, before, strict=True))


def test_wrong_rates_are_refused():
    with pytest.raises(ValueError, match="`dilation_rate` must be a positive integer"):
        layers.BottleneckAttention(dilation_rate=0)
