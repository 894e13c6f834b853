import keras
import numpy as np
import pytest

from keras_attention import blocks
from tests.backend import tensor, to_numpy

B, T, D, F = 2, 5, 12, 14


def make(**options):
    return blocks.TransformerEncoder(
        **{"intermediate_dim": F, "num_heads": 3, **options}
    )


def normalised(x):
    """Layer normalisation as it starts: gain 1, offset 0."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5)


@pytest.mark.parametrize("normalize_first", [True, False])
def test_residual_around_a_sub_block(normalize_first):
    block = make(normalize_first=normalize_first)
    x = tensor(B, T, D)
    block(x)
    norm = block.feed_forward_norm
    update = 3 * block.before(norm, x) + 1
    found = block.after(norm, x, update, training=False)
    x = to_numpy(x)
    if normalize_first:
        expected = x + 3 * normalised(x) + 1
    else:
        expected = normalised(x + 3 * x + 1)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-5)


def test_dropout_is_off_at_inference_and_on_in_training():
    x = tensor(B, T, D)
    plain = make()
    plain(x)
    expected = to_numpy(plain(x))
    for options in ({"dropout": 0.5}, {"attention_dropout": 0.5}):
        block = make(**options)
        block(x)
        block.set_weights(plain.get_weights())
        np.testing.assert_array_equal(to_numpy(block(x)), expected)
        trained = to_numpy(block(x, training=True))
        assert np.abs(trained - expected).max() > 1e-3


@pytest.mark.parametrize("place", ["hidden units", "sub-blocks", None])
def test_dropout_acts_on_sub_blocks_and_hidden_units_and_nowhere_else(place):
    block, x = make(dropout=0.5), tensor(B, T, D)
    expected = to_numpy(block(x))
    if place != "hidden units":
        block.feed_forward.dropout_layer.rate = 0.0
    if place != "sub-blocks":
        block.dropout_layer.rate = 0.0
    difference = np.abs(to_numpy(block(x, training=True)) - expected).max()
    assert difference > 1e-3 if place else difference == 0


def test_drop_path_leaves_out_whole_updates_in_training():
    """Rows are left as they are or get the update times `1 / (1 - drop_path)`."""
    rows, rate = 400, 0.25
    block, x = make(drop_path=rate), tensor(rows, T, D)
    block(x)
    norm, update = block.feed_forward_norm, tensor(rows, T, D, seed=1)
    same = to_numpy(block.after(norm, x, update, training=False))
    np.testing.assert_array_equal(same, to_numpy(x) + to_numpy(update))
    found = to_numpy(block.after(norm, x, update, training=True))
    kept = to_numpy(x) + to_numpy(update) / (1 - rate)
    skipped = (found == to_numpy(x)).all(axis=(1, 2))
    np.testing.assert_allclose(found[~skipped], kept[~skipped], atol=1e-5)
    # Six standard deviations of a binomial share of 400.
    assert abs(skipped.mean() - rate) < 0.13


def test_each_sub_block_draws_its_own_path():
    rate = 0.5
    block, x = make(drop_path=rate), tensor(60, T, D)
    plain = make()
    plain(x)
    block(x)
    block.set_weights(plain.get_weights())
    np.testing.assert_array_equal(to_numpy(block(x)), to_numpy(plain(x)))
    trained = to_numpy(block(x, training=True))
    after, x = to_numpy(plain.feed_forward_residual(x, training=False)), to_numpy(x)
    twice = x + (after - x) / (1 - rate)
    stays, second = (
        (abs(trained - y) < 1e-5).all(axis=(1, 2)).sum() for y in (x, twice)
    )
    # A quarter each: neither sub-block, or the second alone.
    assert 0 < stays < 40
    assert 0 < second < 40


def test_attention_options_reach_the_layer():
    block = make(
        num_heads=4,
        attention_dropout=0.25,
        attention_options={"num_key_value_heads": 2, "score": "cosine"},
    )
    block(tensor(B, T, D))
    attention = block.self_attention
    assert (attention.num_heads, attention.key_dim) == (4, 3)
    assert attention.key_dense.kernel.shape == (D, 2, 3)
    assert (attention.score, attention.dropout) == ("cosine", 0.25)


@pytest.mark.parametrize(
    "block_class", [blocks.TransformerEncoder, blocks.TransformerDecoder]
)
def test_config_round_trip(block_class):
    block = block_class(
        intermediate_dim=F,
        num_heads=2,
        dropout=0.1,
        attention_dropout=0.2,
        activation="gelu",
        layer_norm_epsilon=1e-3,
        normalize_first=False,
        attention="multi_head",
        attention_options={"score": "cosine", "num_key_value_heads": 1},
        drop_path=0.3,
        name="mine",
        dtype="mixed_bfloat16",
        trainable=False,
    )
    config = keras.saving.serialize_keras_object(block)
    assert config["registered_name"] == f"keras_attention>{block_class.__name__}"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == block.get_config()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"intermediate_dim": -1}, "`intermediate_dim` must be a positive integer"),
        ({"num_heads": 0}, "`num_heads` must be a positive integer"),
        ({"dropout": 1.5}, "`dropout`"),
        ({"attention_dropout": -0.5}, "`attention_dropout`"),
        ({"drop_path": 1.0}, r"`drop_path` must be a number in \[0, 1\)"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


def test_heads_must_divide_the_model_size():
    with pytest.raises(ValueError, match="`num_heads` must divide the model size"):
        make(num_heads=5)(tensor(B, T, D))


def test_an_unknown_attention_names_the_valid_ones():
    with pytest.raises(ValueError, match=r"must be one of .*'multi_head'"):
        make(attention="multihead")(tensor(B, T, D))
