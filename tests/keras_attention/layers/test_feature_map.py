"""What holds for every layer of one feature map, beyond the contract."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import costs, layers
from tests.backend import BACKEND, mask_of, tensor, tensorflow_only, to_numpy
from tests.catalogue.feature_maps import FEATURE_MAPS, MAP
from tests.graph_products import products_of
from tests.rows import H, N, Row

B, h, w, C = MAP
ANY_RANK = ("squeeze_excitation", "efficient_channel", "sc_se")
WITH_RATIO = (
    "squeeze_excitation",
    "cbam",
    "bam",
    "coordinate",
    "sc_se",
    "selective_kernel",
)

each = pytest.mark.parametrize("row", FEATURE_MAPS, ids=lambda row: row.name)


def first(x):
    """`(B, h, w, C)` with its channels first."""
    return ops.moveaxis(ops.convert_to_tensor(x), -1, 1)


def with_weights_of(layer, row: Row, inputs, **options):
    """A further layer of the row with the weights of `layer`."""
    other = row.make(**options)
    other(inputs)
    other.set_weights(layer.get_weights())
    return other


# ---------------------------------------------------------------------- data formats


@each
def test_channels_first_gives_the_same_numbers(row):
    x, mask = row.tensors()[0], row.query_padding()
    last = row.built()
    layer = with_weights_of(last, row, first(x), data_format="channels_first")
    for masks in ({}, {"mask": mask}):
        expected, gate = last(x, return_attention_scores=True, **masks)
        output, found = layer(first(x), return_attention_scores=True, **masks)
        np.testing.assert_allclose(to_numpy(output), to_numpy(first(expected)), 0, 1e-6)
        gate = to_numpy(gate)
        if row.name != "feature_map":  # whose scores have no channels
            gate = np.moveaxis(gate, 3, 1)
        np.testing.assert_allclose(to_numpy(found), gate, 0, 1e-6)


@each
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_maps_of_any_size(row, data_format):
    is_first = data_format == "channels_first"
    shape = (C, None, None) if is_first else (None, None, C)
    inputs = keras.Input(shape)
    outputs = row.make(data_format=data_format)(inputs, return_attention_scores=True)
    model = keras.Model(inputs, outputs)
    assert outputs[0].shape == (None, *shape)
    for size in ((3, 5), (4, 1)):
        x = tensor(B, C, *size) if is_first else tensor(B, *size, C)
        output, gate = model(x)
        assert tuple(output.shape) == tuple(x.shape)
        assert np.isfinite(to_numpy(gate)).all()


def test_the_format_is_that_of_keras_by_default():
    assert layers.SpatialAttention().data_format == "channels_last"
    keras.config.set_image_data_format("channels_first")
    try:
        layer = layers.SpatialAttention()
    finally:
        keras.config.set_image_data_format("channels_last")
    assert layer.data_format == "channels_first"
    assert tuple(layer(tensor(B, C, h, w)).shape) == (B, C, h, w)


# ----------------------------------------------------------------------------- masks


@each
@pytest.mark.parametrize("training", [False, True])
def test_padding_is_as_if_it_were_not_there(row, training):
    """A smaller map inside a padded one, whatever is stored in the padding."""
    x, layer = to_numpy(row.tensors()[0]).copy(), row.built()
    weights = layer.get_weights()
    inside = np.s_[:, :4, :3]
    small, gate = layer(x[inside], training=training, return_attention_scores=True)
    moved = [to_numpy(weight) for weight in layer.weights]
    layer.set_weights(weights)
    mask = np.zeros((B, h, w), bool)
    mask[inside] = True
    x[~mask] = np.nan
    x = ops.convert_to_tensor(x)
    options = {"mask": mask, "training": training, "return_attention_scores": True}
    output, found = layer(x, **options)
    # Keras adds 1e-7 to the number of positions that it normalises by.
    np.testing.assert_allclose(to_numpy(output)[inside], to_numpy(small), 0, 2e-5)
    assert np.array_equal(mask_of(output), mask)
    if tuple(found.shape) == tuple(gate.shape):
        np.testing.assert_allclose(to_numpy(found), to_numpy(gate), 0, 2e-5)
    for weight, expected in zip(layer.weights, moved, strict=True):
        np.testing.assert_allclose(to_numpy(weight), expected, 0, 2e-5)


@each
def test_hidden_positions_are_zero(row):
    """Of the output, and of a gate that has positions."""
    mask = row.query_padding()
    for layer in (row.built(), row.built(data_format="channels_last")):
        output, gate = layer(row.tensors()[0], mask=mask, return_attention_scores=True)
        expected = to_numpy(row.empty_output(layer))
        assert np.abs(to_numpy(output)[~mask] - expected).max() < 1e-6
        if tuple(gate.shape[1:3]) == (h, w):
            assert (to_numpy(gate)[~mask] == 0).all()
            assert (to_numpy(gate)[mask] != 0).any()


def test_a_mask_of_another_rank_is_refused():
    with pytest.raises(ValueError, match="the axes of the map without its channels"):
        layers.SpatialAttention()(tensor(B, h, w, C), mask=np.ones((B, h), bool))


# ---------------------------------------------------------------------------- shapes


@each
def test_maps_of_integers_are_as_of_floats(row):
    x = ops.convert_to_tensor(np.arange(B * h * w * C).reshape(MAP) % 7, "int32")
    layer = row.built()
    output, gate = layer(x, return_attention_scores=True)
    expected, same = layer(ops.cast(x, "float32"), return_attention_scores=True)
    np.testing.assert_array_equal(to_numpy(output), to_numpy(expected))
    np.testing.assert_array_equal(to_numpy(gate), to_numpy(same))


@pytest.mark.parametrize("name", ANY_RANK)
def test_any_number_of_axes(name):
    """A sequence and a volume of the same positions as a map."""
    x, layer = tensor(B, 6, 2, C), layers.get(name)
    expected, gate = layer(x, return_attention_scores=True)
    for shape in ((12,), (3, 2, 2)):
        reshaped = ops.reshape(x, (B, *shape, C))
        other = layers.get(name)
        other(reshaped)
        other.set_weights(layer.get_weights())
        output, found = other(reshaped, return_attention_scores=True)
        assert tuple(output.shape) == (B, *shape, C)
        flat = to_numpy(output).reshape(expected.shape)
        np.testing.assert_allclose(flat, to_numpy(expected), 0, 1e-6)
        np.testing.assert_allclose(
            to_numpy(found).reshape(gate.shape), to_numpy(gate), 0, 1e-6
        )


@each
def test_other_numbers_of_axes_are_refused(row):
    if row.name in ANY_RANK:
        with pytest.raises(ValueError, match="at least 1 axes between batch and"):
            row.make()(tensor(B, C))
    else:
        with pytest.raises(ValueError, match="takes maps with 2 axes between batch"):
            row.make()(tensor(B, w, C))


def test_unknown_channels_are_refused():
    with pytest.raises(ValueError, match="The number of channels must be known"):
        layers.SpatialAttention()(keras.Input((h, w, None)))


def test_unknown_formats_are_refused():
    with pytest.raises(ValueError, match="`data_format` must be one of"):
        layers.SpatialAttention(data_format="channels_middle")


# ----------------------------------------------------------------------------- ratios


@pytest.mark.parametrize("name", WITH_RATIO)
@pytest.mark.parametrize("ratio", [0, -1, 2.0, None])
def test_wrong_ratios_are_refused_by_name(name, ratio):
    with pytest.raises(ValueError, match="`ratio` must be a positive integer"):
        layers.get(name, ratio=ratio)


@pytest.mark.parametrize("name", WITH_RATIO)
def test_a_ratio_that_leaves_no_channel_leaves_one_unit(name):
    x = tensor(B, h, w, 3)
    options = {"min_units": 1} if name in ("coordinate", "selective_kernel") else {}
    above, one = (layers.get(name, ratio=ratio, **options) for ratio in (64, 3))
    assert np.isfinite(to_numpy(above(x))).all()
    one(x)
    assert above.count_params() == one.count_params() > 0


# ------------------------------------------------------------------------------ costs


@tensorflow_only
@each
def test_the_report_equals_the_traced_graph(row):
    """Without dilation, for which TensorFlow spreads the map and pads what it gets."""
    plain = {
        "bam": {"dilation_rate": 1},
        "selective_kernel": {"dilation_rates": (1, 1)},
    }
    layer = row.built(**plain.get(row.name, {}))
    report = costs.report(layer, inputs=MAP)
    assert report.total.multiply_adds == products_of(layer, MAP)


# Numbers that stay in memory, by hand: what the layers inside return, and every map
# that is weighed or mixed, which none of them does. R hidden units.
R, PLACES, WHOLE = 3, B * h * w, B * h * w * C
SQUEEZED = B * (R + C)
HELD = {
    "squeeze_excitation": SQUEEZED + WHOLE,
    "efficient_channel": B * C + WHOLE,
    "spatial": PLACES + WHOLE,
    "cbam": 2 * SQUEEZED + WHOLE + PLACES + WHOLE,
    "bam": SQUEEZED + B * C + 3 * PLACES * R + 2 * PLACES + WHOLE,
    "coordinate": B * (h + w) * (R + R + C) + WHOLE,
    "sc_se": SQUEEZED + WHOLE + PLACES + WHOLE + WHOLE,
    "selective_kernel": 3 * 2 * WHOLE + B * (2 * R + 3 * C) + (1 + 3) * WHOLE,
    "feature_map": 4 * PLACES * N * H + WHOLE + B * N * (h * w) ** 2,
}


@each
def test_what_is_held_is_as_by_hand(row):
    report = costs.report(row.built(), inputs=MAP)
    assert report.not_counted == []
    assert report.total.activation_bytes == 4 * HELD[row.name]


# ------------------------------------------------------------------------- precision


@pytest.mark.skipif(BACKEND == "torch", reason="PyTorch convolves no float16 on a CPU")
@each
def test_large_maps_of_large_numbers_stay_finite(row):
    """The sum of the map is 1e6, where float16 ends at 65,504."""
    x = ops.full((1, 16, 16, C), 250.0, "float16")
    output, gate = row.make(dtype="float16")(x, return_attention_scores=True)
    assert np.isfinite(to_numpy(output)).all()
    assert np.isfinite(to_numpy(gate)).all()
