"""Conformer block: its parts in order, padding, scores, any attention."""

import keras
import numpy as np
import pytest

from keras_attention import blocks, layers
from tests.backend import mask_of, tensor, thorough_but, to_numpy, with_mask
from tests.contract import check_stays_in_padding

B, T, D, F, N, K = 3, 5, 12, 14, 3, 3
LENGTHS = (5, 2, 1)
MASK = np.arange(T) < np.array(LENGTHS)[:, None]
VARIANTS = {
    "relative": {},
    "layer_norm": {"convolution_norm": "layer", "attention": "multi_head"},
}


def make(**options):
    return blocks.ConformerEncoder(F, N, **{"kernel_size": K, **options})


@pytest.fixture(params=VARIANTS)
def block(request):
    return make(**VARIANTS[request.param])


def test_is_its_parts_in_order(block):
    x = tensor(B, T, D)
    found = to_numpy(block(x))
    x = x + 0.5 * block.first_feed_forward(block.first_norm(x))
    y = block.self_attention_norm(x)
    x = x + block.self_attention(y, y)
    x = x + block.convolution(block.convolution_norm_layer(x))
    x = x + 0.5 * block.feed_forward(block.feed_forward_norm(x))
    np.testing.assert_allclose(found, to_numpy(block.last_norm(x)), atol=1e-5)


def test_parameters():
    block = make(attention="multi_head")
    block(tensor(B, T, D))
    attention, dense = 4 * D * D + 4 * D, 2 * D * F + F + D
    convolution = 3 * D * D + (K + 6) * D + 2 * D
    norms = 5 * 2 * D
    assert block.count_params() == attention + 2 * dense + convolution + norms


@pytest.mark.parametrize("given", ["argument", "hidden"])
def test_a_padded_row_is_as_alone(block, given):
    x = tensor(B, T, D)
    y = block(x, mask=MASK) if given == "argument" else block(with_mask(x, MASK))
    np.testing.assert_array_equal(mask_of(y), MASK)
    x = tensor(B, T, D)
    for row, length in enumerate(LENGTHS):
        alone = to_numpy(block(x[row : row + 1, :length]))[0]
        np.testing.assert_allclose(to_numpy(y)[row, :length], alone, atol=1e-5)


def test_nan_in_padding_stays_there(block):
    x = tensor(B, T, D)
    block(x)
    check_stays_in_padding(block, lambda x: block(x, mask=MASK), [x], [MASK])


def test_scores_change_nothing(block):
    x = tensor(B, T, D)
    plain = to_numpy(block(x, mask=MASK))
    output, scores = block(x, mask=MASK, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(output), plain, atol=1e-6)
    sums = to_numpy(scores).sum(-1)
    assert sums.shape == (B, N, T)
    expected = np.broadcast_to(MASK[:, None], sums.shape)
    np.testing.assert_allclose(sums, expected, atol=1e-6)


def test_an_attention_mask_holds():
    nearby = np.abs(np.arange(T) - np.arange(T)[:, None]) < 2
    _, scores = make()(
        tensor(B, T, D), attention_mask=nearby, return_attention_scores=True
    )
    assert (to_numpy(scores)[..., ~nearby] == 0).all()


@pytest.mark.parametrize("name", thorough_but(["linear"], sorted(layers.multi_head())))
def test_takes_every_multi_head_layer(name):
    block = make(attention=name)
    assert type(block.make_attention(D, "a")) is layers.multi_head()[name]
    y = to_numpy(block(tensor(B, T, D), mask=MASK))
    assert np.isfinite(y).all()


def test_symbolic_shapes():
    x = keras.Input((None, D))
    output, scores = make()(x, return_attention_scores=True)
    assert (output.shape, scores.shape) == ((None, None, D), (None, N, None, None))


def test_reloads_from_its_config():
    block = make(
        convolution_norm="layer",
        activation="gelu",
        dropout=0.1,
        drop_path=0.2,
        attention_options={"max_distance": 4},
        dtype="mixed_bfloat16",
    )
    copy = blocks.ConformerEncoder.from_config(block.get_config())
    assert copy.get_config() == block.get_config()
    output = copy(tensor(B, T, D))
    assert keras.backend.standardize_dtype(output.dtype) == "bfloat16"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel_size": 2}, "`kernel_size` must be odd"),
        ({"convolution_norm": "group"}, "`norm` must be one of"),
        ({"normalize_first": False}, "A Conformer block is pre-norm"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)
