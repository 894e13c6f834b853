import keras
import numpy as np
import pytest

from keras_attention import blocks, layers
from tests.backend import mask_of, to_numpy

V, D, LONGEST = 13, 6, 7
POSITIONS = ("sinusoidal", "learned", "none")
IDS = np.array([[3, 4, 9, 1, 0], [5, 0, 0, 0, 0]], "int32")


def make(positions="sinusoidal", **options):
    return blocks.TokenAndPositionEmbedding(V, D, positions, LONGEST, **options)


def sinusoidal(length):
    """`sin(t / 10000^(2 i / D))` and its cosine, side by side."""
    angles = np.arange(length)[:, None] / 10_000.0 ** (np.arange(0, D, 2) / D)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, D)


@pytest.mark.parametrize("positions", POSITIONS)
def test_parity_with_numpy(positions):
    layer = make(positions)
    x = to_numpy(layer(IDS))
    table = to_numpy(layer.embeddings)
    code = {
        "sinusoidal": lambda: sinusoidal(IDS.shape[1]),
        "learned": lambda: to_numpy(layer.position_layer.embeddings)[: IDS.shape[1]],
        "none": lambda: 0.0,
    }[positions]()
    np.testing.assert_allclose(x, table[IDS] * D**0.5 + code, atol=1e-6)


@pytest.mark.parametrize("positions", POSITIONS)
def test_token_by_token_is_the_same(positions):
    layer = make(positions)
    whole = to_numpy(layer(IDS))
    steps = [to_numpy(layer(IDS[:, t : t + 1], start_index=t)) for t in range(5)]
    np.testing.assert_allclose(np.concatenate(steps, axis=1), whole, atol=1e-6)


def test_output_is_tied_to_the_table():
    layer = make()
    x = layer(IDS)
    logits = to_numpy(layer(x, reverse=True))
    expected = to_numpy(x) @ to_numpy(layer.embeddings).T
    np.testing.assert_allclose(logits, expected, atol=1e-5)
    assert layer.count_params() == V * D


@pytest.mark.parametrize("positions", POSITIONS)
def test_carries_the_padding_mask(positions):
    layer = make(positions, dropout=0.5)
    x = layer(IDS, training=True)
    np.testing.assert_array_equal(mask_of(x), IDS != 0)
    np.testing.assert_array_equal(mask_of(layer(x, reverse=True)), IDS != 0)


@pytest.mark.parametrize("positions", POSITIONS)
def test_c18_an_encoder_behind_it_does_not_attend_padding(positions):
    embedding = make(positions)
    encoder = blocks.TransformerEncoder(intermediate_dim=8, num_heads=2)
    padded = to_numpy(encoder(embedding(np.array([[3, 4, 0, 0]]))))
    alone = to_numpy(encoder(embedding(np.array([[3, 4]]))))
    np.testing.assert_allclose(padded[:, :2], alone, atol=1e-5)


def test_c15_its_mask_survives_attention():
    """Attend and then pool: the pool sees the mask too."""
    x = make()(np.array([[3, 4, 0, 0]]))
    layers.MultiHeadAttention(num_heads=2, key_dim=3)(x, x)
    blocks.TransformerEncoder(intermediate_dim=8, num_heads=2)(x)
    np.testing.assert_array_equal(mask_of(x), [[True, True, False, False]])
    pooled = to_numpy(layers.MaskedMeanPooling()(x))
    np.testing.assert_allclose(pooled, to_numpy(x)[:, :2].mean(axis=1), atol=1e-6)


def test_static_shapes():
    layer = make()
    x = layer(keras.Input((None,), dtype="int32"))
    assert x.shape == (None, None, D)
    assert layer(x, reverse=True).shape == (None, None, V)


@pytest.mark.parametrize("positions", POSITIONS)
def test_reload(positions, tmp_path):
    inputs = keras.Input((None,), dtype="int32")
    layer = make(positions)
    model = keras.Model(inputs, layer(layer(inputs), reverse=True))
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(to_numpy(again(IDS)), to_numpy(model(IDS)))


def test_config_round_trip():
    layer = make("learned", dropout=0.25, name="mine", dtype="mixed_bfloat16")
    config = keras.saving.serialize_keras_object(layer)
    assert config["registered_name"] == "keras_attention>TokenAndPositionEmbedding"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == layer.get_config()


def test_half_precision():
    layer = make(dtype="mixed_bfloat16")
    x = layer(IDS)
    assert "bfloat16" in str(x.dtype)
    assert "bfloat16" in str(layer(x, reverse=True).dtype)


def test_longer_than_the_learned_positions():
    with pytest.raises(ValueError, match="within positions 0 to `max_sequence_len"):
        make("learned")(np.ones((1, LONGEST + 1), "int32"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"vocabulary_size": 0, "hidden_dim": D}, "`vocabulary_size` must be"),
        ({"vocabulary_size": V, "hidden_dim": 0}, "`hidden_dim` must be"),
        (
            {"vocabulary_size": V, "hidden_dim": D, "positions": "rotary"},
            "`positions` must be one of 'learned', 'none', 'sinusoidal'",
        ),
        (
            {"vocabulary_size": V, "hidden_dim": D, "positions": "learned"},
            "`max_sequence_length` must be",
        ),
        ({"vocabulary_size": V, "hidden_dim": D, "dropout": -0.1}, "`dropout`"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        blocks.TokenAndPositionEmbedding(**options)
