"""What both kinds of language model share: sizes, configs, files."""

import keras
import numpy as np
import pytest

from keras_attention import masks, models
from tests.backend import to_numpy
from tests.keras_attention.models import toys

V, D, N, F = 13, 16, 2, 20
TOKENS = np.array([[5, 3, 7, 4], [6, 8, 0, 0]])
KINDS = {"causal": models.CausalLM, "masked": models.MaskedLM}


def make(kind, **options):
    sizes = {"num_layers": 2, "num_heads": N, "hidden_dim": D, "intermediate_dim": F}
    return KINDS[kind](V, **{**sizes, "positions": "rotary", **options})


def logits(model):
    if isinstance(model, models.CausalLM):
        return to_numpy(model(TOKENS))
    return to_numpy(model({"tokens": TOKENS, "positions": TOKENS % 2}))


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_sees_what_its_kind_says(kind):
    changed = TOKENS.copy()
    changed[0, -1] = 9
    model = toys.sharpened(make(kind))
    before, after = to_numpy(model.hidden(TOKENS)), to_numpy(model.hidden(changed))
    assert before.shape == (*TOKENS.shape, D)
    sees = np.abs(after - before)[0, 0].max() > 1e-3
    assert sees == (not model.is_causal) == (kind == "masked")


@pytest.mark.parametrize("kind", KINDS)
def test_config_round_trip(kind):
    model = make(
        kind,
        dropout=0.1,
        attention_dropout=0.2,
        activation="relu",
        normalize_first=False,
        positions="learned",
        max_sequence_length=9,
        attention="relative_position",
        attention_options={"max_distance": 3},
        name="mine",
        dtype="mixed_bfloat16",
    )
    config = keras.saving.serialize_keras_object(model)
    assert config["registered_name"] == f"keras_attention>{KINDS[kind].__name__}"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == model.get_config()
    blocks = again.reader.blocks, model.reader.blocks
    assert blocks[0][1].get_config() == blocks[1][1].get_config()
    assert again.embedding.compute_dtype == "bfloat16"


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("causal", {"attention_options": {"mask": masks.Local(2) | masks.Global(1)}}),
        ("causal", {"positions": "relative"}),
        ("causal", {"attention": "performer", "positions": "sinusoidal"}),
        ("masked", {"positions": "learned", "max_sequence_length": 9}),
    ],
    ids=["mask", "bias", "performer", "masked"],
)
def test_reload(kind, options, tmp_path):
    model = toys.sharpened(make(kind, **options))
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(logits(again), logits(model))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hidden_dim": 15}, "`num_heads` must divide the model size"),
        ({"positions": "learned"}, "`max_sequence_length` must be"),
        ({"positions": "fixed"}, "`positions` must be one of 'alibi', .*'sinusoidal'"),
        ({"attention": "multihead"}, "must be one of"),
        ({"num_layers": 0}, "`num_layers` must be a positive integer"),
        ({"vocabulary_size": -1}, "`vocabulary_size` must be a positive integer"),
    ],
)
def test_wrong_arguments(kind, options, words):
    sizes = {"num_layers": 1, "num_heads": N, "hidden_dim": D, "intermediate_dim": F}
    arguments = {"vocabulary_size": V, "positions": "rotary", **sizes, **options}
    with pytest.raises(ValueError, match=words):
        KINDS[kind](**arguments)
