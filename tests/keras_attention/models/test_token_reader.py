"""The half of a language model that reads; what models make of it is tested there."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.models._token_reader import POSITIONS, token_reader
from tests.backend import mask_of, to_numpy

V, D, N = 13, 16, 2
TOKENS = np.array([[5, 3, 7, 4, 9]])


def make(positions="none", attention="multi_head", is_causal=False, **further):
    tokens = {
        "vocabulary_size": V,
        "hidden_dim": D,
        "positions": positions,
        "max_sequence_length": 9,
    }
    block = {
        "intermediate_dim": 20,
        "num_heads": N,
        "dropout": 0.0,
        "attention": attention,
        "normalize_first": True,
        "attention_options": None,
        "dtype": None,
        **further,
    }
    return token_reader(is_causal, tokens, block, num_layers=1)


@pytest.mark.parametrize("positions", POSITIONS)
def test_positions_tell_the_order(positions):
    """Without them, words in another order give the same vectors in that order."""
    reader, order = make(positions), np.array([3, 0, 4, 1, 2])
    reader.read(TOKENS)
    if positions == "relative":  # the first table of the library's is small
        reader.bias.embeddings.assign(np.random.default_rng(0).normal(size=(32, N)))
    moved = to_numpy(reader.read(TOKENS[:, order]))
    same = to_numpy(reader.read(TOKENS))[:, order]
    difference = np.abs(moved - same).max()
    assert difference < 1e-5 if positions == "none" else difference > 1e-2


@pytest.mark.parametrize("positions", ["alibi", "relative"])
def test_a_bias_is_shared_and_has_the_direction_of_the_model(positions):
    one, other = make(positions), make(positions, is_causal=True)
    assert isinstance(one.bias, (layers.AlibiBias, layers.RelativePositionBias))
    if positions == "relative":
        assert (one.bias.bidirectional, other.bias.bidirectional) == (True, False)
    reader = make(positions)
    expected = reader.embedding(TOKENS)
    bias = reader.bias(expected)
    expected = reader.norm(reader.blocks[0](expected, attention_bias=bias))
    np.testing.assert_array_equal(to_numpy(reader.read(TOKENS)), to_numpy(expected))


def test_reading_carries_the_mask():
    tokens = np.array([[5, 3, 0], [7, 0, 0]])
    np.testing.assert_array_equal(mask_of(make("learned").read(tokens)), tokens != 0)


def test_steps_where_every_block_can():
    for attention in layers.causal_multi_head():
        size = {"block_size": 2} if attention == "block_summary" else {}
        reader = make(attention=attention, is_causal=True, attention_options=size)
        reader.read(TOKENS)
        assert reader.can_step == (attention != "block_summary")


@pytest.mark.parametrize("attention", ["linear", "block_summary"])
def test_what_stands_from_the_position_on_is_not_read(attention):
    size = {"block_size": 2} if attention == "block_summary" else {}
    reader = make("learned", attention, is_causal=True, attention_options=size)
    reader.read(TOKENS)
    found = []
    for last in (4, 8):
        prompt = ops.convert_to_tensor(np.array([[5, 3, last]]), dtype="int32")
        state = reader.start(prompt, 2, ops.convert_to_tensor(2, dtype="int32"))
        found.append(to_numpy(reader.advance(ops.convert_to_tensor([7]), state)[0]))
    np.testing.assert_array_equal(*found)
    whole = to_numpy(reader.read(np.array([[5, 3, 7]])))[:, -1]
    np.testing.assert_allclose(found[0], whole, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"positions": "rotary", "attention": "linear"}, "turns queries and keys"),
        ({"positions": "alibi", "attention": "linear"}, "takes no `attention_bias`"),
        (
            {"positions": "rotary", "attention_options": {"rotary": True}},
            "takes no `rotary` beside",
        ),
        (
            {
                "attention": "linformer",
                "is_causal": True,
                "attention_options": {"max_sequence_length": 9, "projected_length": 3},
            },
            "cannot be causal",
        ),
    ],
)
def test_what_an_attention_cannot_take(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options).read(TOKENS)
