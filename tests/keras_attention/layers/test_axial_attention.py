"""Attention along one axis: NumPy by hand, every rank, axes in turn, the future."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers, masks
from tests.backend import mask_of, tensor, to_numpy, value_and_gradients, with_mask

B, h, w, C, N, H = 2, 3, 5, 7, 2, 11


def axial(axis, *shape, **options):
    """A built layer with weights of an initializer's size, biases included."""
    layer = layers.AxialAttention(axis, N, H, **options)
    layer(tensor(*shape))
    random = np.random.default_rng(1)
    layer.set_weights([0.3 * random.normal(size=x.shape) for x in layer.get_weights()])
    return layer


def attended(layer, x, axis, allowed=True):
    """Output and scores in float64, one sequence at a time."""
    names = ("query_dense", "key_dense", "value_dense", "output_dense")
    kernels, biases = zip(
        *(
            [to_numpy(weight).astype("float64") for weight in getattr(layer, n).weights]
            for n in names
        ),
        strict=True,
    )
    x = np.moveaxis(to_numpy(x).astype("float64"), axis, -2)  # (..., L, C)
    query, key, value = (
        np.einsum("...lc,cnh->...nlh", x, kernel) + bias[:, None]
        for kernel, bias in zip(kernels[:3], biases[:3], strict=True)
    )
    logits = query @ np.swapaxes(key, -1, -2) / np.sqrt(H)
    scores = np.exp(np.where(allowed, logits, -np.inf))
    scores /= scores.sum(-1, keepdims=True)
    output = np.einsum("...nlh,nhc->...lc", scores @ value, kernels[3]) + biases[3]
    return np.moveaxis(output, -2, axis), scores


@pytest.mark.parametrize(
    ("axis", "shape"),
    [
        (1, (B, h, C)),
        (1, (B, h, w, C)),
        (2, (B, h, w, C)),
        (-2, (B, h, w, C)),
        (-3, (B, h, w, C)),
        (2, (B, 2, h, w, C)),
    ],
)
def test_equals_its_formula(axis, shape):
    x, layer = tensor(*shape), axial(axis, *shape)
    output, scores = layer(x, return_attention_scores=True)
    counted = axis % len(shape)
    expected, expected_scores = attended(layer.attentions[0], x, counted)
    np.testing.assert_allclose(to_numpy(output), expected, atol=1e-5)
    np.testing.assert_allclose(to_numpy(scores), expected_scores, atol=1e-6)
    length = shape[counted]
    others = [size for at, size in enumerate(shape[1:-1], 1) if at != counted]
    assert tuple(scores.shape) == (B, *others, N, length, length)


def test_axes_are_taken_one_after_the_other():
    x, layer = tensor(B, h, w, C), axial((2, -3), B, h, w, C)
    output, along_width, along_height = layer(x, return_attention_scores=True)
    first, first_scores = attended(layer.attentions[0], x, 2)
    second, second_scores = attended(layer.attentions[1], first, 1)
    np.testing.assert_allclose(to_numpy(output), second, atol=1e-5)
    np.testing.assert_allclose(to_numpy(along_width), first_scores, atol=1e-6)
    np.testing.assert_allclose(to_numpy(along_height), second_scores, atol=1e-6)


def test_after_both_axes_every_position_has_seen_all():
    x, layer = tensor(1, h, w, C), axial((1, 2), 1, h, w, C)
    _, (gradient,) = value_and_gradients(lambda x: layer(x)[0, 0, 0], x)
    assert (np.abs(gradient).max(-1) > 0).all()
    one = axial(2, 1, h, w, C)
    _, (gradient,) = value_and_gradients(lambda x: one(x)[0, 0, 0], x)
    np.testing.assert_array_equal(
        np.abs(gradient[0]).max(-1) > 0, np.arange(h)[:, None] == np.zeros(w)
    )


@pytest.mark.parametrize("options", [{}, {"return_attention_scores": True}])
@pytest.mark.parametrize("flash_attention", [None, True, False])
def test_c09_no_path_sees_the_future(flash_attention, options):
    """C09, for four axes: a causal position sees nothing after it on its axis."""
    x = tensor(B, h, w, C)
    layer = axial(2, B, h, w, C, flash_attention=flash_attention, dropout=0.1)
    changed = to_numpy(x).copy()
    changed[:, :, -1] += 5
    before, after = (
        keras.tree.flatten(layer(x, use_causal_mask=True, **options))
        for x in (x, ops.convert_to_tensor(changed))
    )
    for one, other in zip(before, after, strict=True):
        rows = [to_numpy(x)[..., : w - 1, :] for x in (one, other)]
        np.testing.assert_allclose(*rows, rtol=0, atol=1e-6)
    assert not np.allclose(to_numpy(before[0]), to_numpy(after[0]), atol=1e-3)
    if options:
        assert (np.triu(to_numpy(before[1]), 1) == 0).all()


def test_causal_over_two_axes_sees_what_is_before_on_each():
    x, layer = tensor(1, h, w, C), axial((1, 2), 1, h, w, C)
    _, (gradient,) = value_and_gradients(
        lambda x: layer(x, use_causal_mask=True)[0, 1, 2], x
    )
    seen = np.abs(gradient[0]).max(-1) > 0
    expected = (np.arange(h) <= 1)[:, None] & (np.arange(w) <= 2)
    np.testing.assert_array_equal(seen, expected)


def test_a_position_mask_holds_along_the_axis():
    x = tensor(B, h, w, C)
    layer = axial(2, B, h, w, C, mask=masks.Local(2))
    output, scores = layer(x, return_attention_scores=True)
    near = np.abs(np.subtract.outer(np.arange(w), np.arange(w))) < 2
    expected, expected_scores = attended(layer.attentions[0], x, 2, near)
    np.testing.assert_allclose(to_numpy(output), expected, atol=1e-5)
    np.testing.assert_allclose(to_numpy(scores), expected_scores, atol=1e-6)


@pytest.mark.parametrize("axis", [1, 2, (1, 2)])
def test_padding_is_as_if_it_were_not_there(axis):
    """A smaller map inside a padded one, whatever is stored in the padding."""
    layer = axial(axis, B, h, w, C)
    x = to_numpy(tensor(B, h, w, C)).copy()
    small = to_numpy(layer(ops.convert_to_tensor(x[:, :2, :3])))
    mask = np.zeros((B, h, w), bool)
    mask[:, :2, :3] = True
    x[~mask] = np.nan
    x = ops.convert_to_tensor(x)
    found = layer(x, mask=mask)
    np.testing.assert_allclose(to_numpy(found)[:, :2, :3], small, atol=1e-5)
    np.testing.assert_array_equal(mask_of(found), mask)
    hidden = layer(with_mask(x, mask))
    np.testing.assert_allclose(to_numpy(hidden)[:, :2, :3], small, atol=1e-5)


def test_static_shapes_of_several_axes():
    x = keras.Input((None, w, C))
    output, *scores = layers.AxialAttention((2, 1), N, H)(
        x, return_attention_scores=True
    )
    assert output.shape == (None, None, w, C)
    assert [tuple(x.shape) for x in scores] == [
        (None, None, N, w, w),
        (None, w, N, None, None),
    ]


def test_options_reach_the_attention_of_each_axis():
    options = {"num_key_value_heads": 1, "use_bias": False}
    layer = layers.AxialAttention(
        (1, 2), N, H, dropout=0.1, seed=3, attention_options=options
    )
    layer(tensor(B, h, w, C))
    assert [x.num_key_value_heads for x in layer.attentions] == [1, 1]
    assert [x.seed for x in layer.attentions] == [3, 4]
    shapes = [tuple(x.shape) for x in layer.attentions[0].weights if x.trainable]
    assert shapes == [(C, N, H), (C, 1, H), (C, 1, H), (N, H, C)]


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        (0, "`axis` must not be the batch axis"),
        (-4, "`axis` must not be the batch axis"),
        (-1, "`axis` must not be the channel axis"),
        (3, "`axis` must not be the channel axis"),
        ((1, 0), "`axis` must not be the batch axis"),
        (4, "`axis` must name axes between batch and channels, here 1 to 2"),
        (-5, "`axis` must name axes between batch and channels, here 1 to 2"),
        ((1, -3), "`axis` must not name an axis twice"),
        ((), "`axis` must be an integer or a tuple of integers"),
        ("width", "`axis` must be an integer or a tuple of integers"),
    ],
)
def test_wrong_axes_are_refused(axis, words):
    with pytest.raises(ValueError, match=words):
        layers.AxialAttention(axis, N, H)(tensor(B, h, w, C))


def test_float_mask_is_refused():
    layer = layers.AxialAttention(1, N, H)
    with pytest.raises(ValueError, match="`mask` must be bool or int"):
        layer(tensor(B, h, w, C), mask=np.ones((B, h, w), "float32"))


def test_an_output_shape_is_refused():
    with pytest.raises(ValueError, match="takes no `output_shape`"):
        layers.AxialAttention(1, 2, 3, attention_options={"output_shape": 7})
