import itertools

import keras
import numpy as np
import pytest

from keras_attention import models
from keras_attention.decoding import Decodable
from tests.backend import tensorflow_only, thorough_but, to_numpy
from tests.keras_attention.models import toys
from tests.keras_attention.models.toys import SOURCE, TARGET, VOCABULARY

D, N = 16, 2
VARIANTS = {
    "pre_norm": {},
    "post_norm": {"normalize_first": False},
    "learned": {"positions": "learned", "max_sequence_length": 9},
    "grouped": {"attention_options": {"num_key_value_heads": 1, "score": "cosine"}},
}


def make(**options):
    sizes = {"num_layers": 2, "num_heads": N, "hidden_dim": D, "intermediate_dim": 24}
    return models.TransformerSeq2Seq(VOCABULARY, **{**sizes, **options})


@pytest.fixture(params=VARIANTS)
def model(request):
    return make(**VARIANTS[request.param])


def test_static_shapes():
    model = make()
    assert model.output_shape == (None, None, VOCABULARY)
    assert isinstance(model, Decodable)
    assert toys.logits(model).shape == (*TARGET.shape, VOCABULARY)


def test_parameters():
    """One table for both sides and the output; blocks and norms as published."""
    model = make()
    attention = 4 * D * D + 4 * D
    dense = 2 * D * 24 + 24 + D
    encoder = attention + dense + 2 * 2 * D
    decoder = 2 * attention + dense + 3 * 2 * D
    assert model.count_params() == VOCABULARY * D + 2 * (encoder + decoder) + 2 * 2 * D


def test_padding_changes_nothing(model):
    together = toys.logits(model)
    for row in range(len(SOURCE)):
        one, source, target = slice(row, row + 1), SOURCE[row] != 0, TARGET[row] != 0
        alone = toys.logits(model, SOURCE[one][:, source], TARGET[one][:, target])
        np.testing.assert_allclose(together[row, target], alone[0], atol=1e-5)


def test_the_future_changes_nothing_before(model):
    changed = TARGET.copy()
    changed[:, -1] = 9
    before, after = toys.logits(model), toys.logits(model, target=changed)
    np.testing.assert_array_equal(after[:, :-1], before[:, :-1])
    assert np.abs(after[0, -1] - before[0, -1]).max() > 1e-3


def test_cached_decoding_is_as_teacher_forced(model):
    expected, found = toys.logits(model), toys.stepped_logits(model)
    real = TARGET != 0
    np.testing.assert_allclose(found[real], expected[real], atol=1e-5)


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_a_row_is_decoded_alone_as_in_a_batch(search):
    model = toys.sharpened(make())
    search = toys.searches()[search]
    toys.assert_decodes_a_row_alone_as_in_a_batch(
        lambda source: toys.decode(model, search, source)
    )


def test_cross_attention_scores(model):
    scores = to_numpy(model.cross_attention_scores(SOURCE, TARGET))
    assert scores.shape == (3, N, TARGET.shape[1], SOURCE.shape[1])
    sums = np.broadcast_to((TARGET != 0)[:, None], scores.shape[:3])
    np.testing.assert_allclose(scores.sum(-1), sums, atol=1e-6)
    padding = np.broadcast_to((SOURCE == 0)[:, None, None], scores.shape)
    assert (scores[padding] == 0).all()


@pytest.mark.parametrize(
    ("variant", "search"),
    thorough_but(
        [("pre_norm", "beam")], itertools.product(VARIANTS, ["greedy", "beam"])
    ),
)
def test_a_search_keeps_its_scores(variant, search):
    toys.assert_a_search_keeps_its_scores(make(**VARIANTS[variant]), search)


def test_scores_follow_prompts():
    toys.assert_scores_follow_prompts(toys.sharpened(make(num_layers=1)))


@tensorflow_only
def test_scores_of_sources_of_any_size():
    toys.assert_scores_of_sources_of_any_size(toys.sharpened(make(num_layers=1)))


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
@pytest.mark.parametrize("elsewhere", ["float32", "mixed_bfloat16"])
def test_scores_have_the_precision_of_the_model(dtype, elsewhere):
    keras.config.set_dtype_policy(elsewhere)
    try:
        model = make(num_layers=1, dtype=dtype)
    finally:
        keras.config.set_dtype_policy("float32")
    toys.assert_scores_have_the_precision_of(model)


def test_config_round_trip():
    model = make(
        dropout=0.1,
        attention_dropout=0.2,
        activation="gelu",
        normalize_first=False,
        positions="learned",
        max_sequence_length=9,
        attention_options={"score": "cosine"},
        name="mine",
        dtype="mixed_bfloat16",
    )
    config = keras.saving.serialize_keras_object(model)
    assert config["registered_name"] == "keras_attention>TransformerSeq2Seq"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == model.get_config()
    assert again.decoders[1].get_config() == model.decoders[1].get_config()


def test_reload(model, tmp_path):
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(toys.logits(again), toys.logits(model))
    np.testing.assert_array_equal(
        toys.stepped_logits(again), toys.stepped_logits(model)
    )


def test_reload_in_half_precision(tmp_path):
    """A model keeps its precision where the global one is another."""
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        model = make()
    finally:
        keras.config.set_dtype_policy("float32")
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.decoders[0].compute_dtype == "bfloat16"
    assert "bfloat16" in str(again({"source": SOURCE, "target": TARGET}).dtype)
    np.testing.assert_array_equal(toys.logits(again), toys.logits(model))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hidden_dim": 15}, "`num_heads` must divide the model size"),
        ({"positions": "learned"}, "`max_sequence_length` must be"),
        ({"attention": "multihead"}, "must be one of"),
        ({"num_layers": 0}, "`num_layers` must be a positive integer"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


def test_decoding_longer_than_the_learned_positions():
    model = make(positions="learned", max_sequence_length=9)
    with pytest.raises(ValueError, match="Learned positions end"):
        model.initial_state(SOURCE, max_length=10)


@tensorflow_only
@pytest.mark.slow
def test_learns_to_copy_and_looks_at_what_it_copies():
    model = make(num_layers=1, hidden_dim=32, intermediate_dim=64)
    toys.train(model, backwards=False, steps=400)
    test = toys.Sequences(200, seed=1, backwards=False)
    for search in toys.searches(max_length=9).values():
        assert toys.share_solved(model, search, test) > 0.95
    shares = toys.shares_looked_right(model, test)
    print(f"looked at position t: {shares} by head")
    assert shares.max() > 0.8
