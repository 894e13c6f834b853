"""The Conformer's convolution: values by hand, padding, batch statistics."""

import numpy as np
import pytest

from keras_attention import blocks
from keras_attention.blocks.convolution_module import NORMS
from tests.backend import tensor, to_numpy, with_mask
from tests.contract import check_stays_in_padding

B, T, D, K = 3, 7, 4, 5
LENGTHS = (7, 3, 1)
MASK = np.arange(T) < np.array(LENGTHS)[:, None]


def make(norm="batch", **options):
    module = blocks.ConvolutionModule(K, norm, **options)
    module.build((None, None, D))
    noise = np.random.default_rng(0)
    weights = [w + noise.uniform(size=w.shape) for w in module.get_weights()]
    module.set_weights(weights)
    return module


def by_hand(module, x):
    """In float64, with the statistics of training where they are the batch's."""
    expand, depthwise, contract = (
        [to_numpy(w).astype("float64") for w in layer.weights]
        for layer in (module.expand, module.depthwise, module.contract)
    )
    x = x @ expand[0] + expand[1]
    x = x[..., :D] / (1 + np.exp(-x[..., D:]))
    padded = np.pad(x, [(0, 0), (K // 2, K // 2), (0, 0)])
    kernel = depthwise[0].reshape(K, D)
    x = sum(kernel[i] * padded[:, i : i + T] for i in range(K)) + depthwise[1]
    scale, shift, *moving = (to_numpy(w) for w in module.norm_layer.weights)
    mean, variance = moving or (x.mean(-1)[..., None], x.var(-1)[..., None])
    x = (x - mean) / np.sqrt(variance + 1e-5) * scale + shift
    return x / (1 + np.exp(-x)) @ contract[0] + contract[1]


@pytest.mark.parametrize("norm", NORMS)
def test_is_the_formula(norm):
    module, x = make(norm), tensor(B, T, D)
    found = to_numpy(module(x))
    np.testing.assert_allclose(found, by_hand(module, to_numpy(x)), rtol=1e-4)


@pytest.mark.parametrize("given", ["argument", "hidden"])
@pytest.mark.parametrize("norm", NORMS)
def test_a_padded_row_is_as_alone(norm, given):
    module, x = make(norm), tensor(B, T, D)
    y = module(x, mask=MASK) if given == "argument" else module(with_mask(x, MASK))
    x = tensor(B, T, D)
    for row, length in enumerate(LENGTHS):
        alone = to_numpy(module(x[row : row + 1, :length]))[0]
        np.testing.assert_allclose(
            to_numpy(y)[row, :length], alone, rtol=1e-5, atol=1e-5
        )


def test_padding_counts_in_no_statistics():
    """In training, wider padding changes neither the output nor what is kept."""
    short, wide = make(), make()
    wide.set_weights(short.get_weights())
    there = to_numpy(tensor(B, T, D))[1:] * 3 + 1
    wider = np.pad(there, [(0, 0), (0, 4), (0, 0)], constant_values=99.0)
    expected = short(there, mask=MASK[1:], training=True)
    found = wide(wider, mask=np.pad(MASK[1:], [(0, 0), (0, 4)]), training=True)
    np.testing.assert_allclose(
        to_numpy(found)[:, :T][MASK[1:]],
        to_numpy(expected)[MASK[1:]],
        rtol=1e-4,
        atol=1e-5,
    )
    for one, other in zip(short.weights, wide.weights, strict=True):
        np.testing.assert_allclose(to_numpy(one), to_numpy(other), rtol=1e-5)


@pytest.mark.parametrize("norm", NORMS)
def test_nan_in_padding_stays_there(norm):
    module, x = make(norm), tensor(B, T, D)
    check_stays_in_padding(module, lambda x: module(x, mask=MASK), [x], [MASK])


def test_parameters():
    module = make()
    assert module.count_params() == 3 * D * D + (K + 6) * D + 2 * D
    assert len(module.non_trainable_weights) == 2


def test_reloads_from_its_config():
    module = make("layer", activation="relu")
    copy = blocks.ConvolutionModule.from_config(module.get_config())
    assert copy.get_config() == module.get_config()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel_size": 4}, "`kernel_size` must be odd"),
        ({"norm": "group"}, "`norm` must be one of 'batch', 'layer'"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        blocks.ConvolutionModule(**options)
