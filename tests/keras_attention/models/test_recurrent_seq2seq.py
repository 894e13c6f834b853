import itertools

import keras
import numpy as np
import pytest

from keras_attention import models
from keras_attention.decoding import Decodable
from tests.backend import tensorflow_only, thorough_but, to_numpy
from tests.keras_attention.models import toys
from tests.keras_attention.models.toys import SOURCE, TARGET, VOCABULARY

D = 12
KINDS = {
    "bahdanau": {"attention": "additive", "order": "bahdanau"},
    "luong": {"attention": "general", "order": "luong"},
    "dot_product": {"attention": "dot_product", "order": "luong"},
    "none": {"attention": "none"},
}
LOOKING = {name: KINDS[name] for name in ("bahdanau", "luong", "dot_product")} | {
    "location_aware": {"attention": "location_aware", "order": "bahdanau"},
    "location_aware_luong": {"attention": "location_aware", "order": "luong"},
    "monotonic": {"attention": "monotonic"},
    "coverage": {"attention": "coverage", "order": "luong"},
}


def make(**options):
    return models.RecurrentSeq2Seq(VOCABULARY, **{"hidden_dim": D, **options})


@pytest.fixture(params=KINDS)
def model(request):
    return make(**KINDS[request.param])


def test_static_shapes():
    model = make()
    assert model.output_shape == (None, None, VOCABULARY)
    assert isinstance(model, Decodable)
    assert toys.logits(model).shape == (*TARGET.shape, VOCABULARY)


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


def test_decoding_is_as_teacher_forced(model):
    expected, found = toys.logits(model), toys.stepped_logits(model)
    real = TARGET != 0
    np.testing.assert_allclose(found[real], expected[real], atol=1e-5)


@pytest.mark.parametrize("search", ["greedy", "beam"])
@pytest.mark.parametrize("kind", ["bahdanau", "none"])
def test_a_row_is_decoded_alone_as_in_a_batch(kind, search):
    model = toys.sharpened(make(**KINDS[kind]))
    search = toys.searches()[search]
    toys.assert_decodes_a_row_alone_as_in_a_batch(
        lambda source: toys.decode(model, search, source)
    )


def test_without_attention_everything_must_fit_the_summary():
    """Only the final states of the encoder reach the decoder."""
    model = make(**KINDS["none"])
    memory, summary, mask = model.encode(SOURCE)
    hidden = model.decoder(model.embedding(TARGET), memory * 0, summary, mask)
    found = to_numpy(model.embedding(hidden, reverse=True))
    np.testing.assert_allclose(found, toys.logits(model), atol=1e-6)


@pytest.mark.parametrize("kind", ["bahdanau", "luong", "dot_product", "coverage"])
def test_cross_attention_scores(kind):
    model = make(**LOOKING[kind])
    scores = to_numpy(model.cross_attention_scores(SOURCE, TARGET))
    assert scores.shape == (3, 1, TARGET.shape[1], SOURCE.shape[1])
    np.testing.assert_allclose(scores.sum(-1), 1.0, atol=1e-6)
    padding = np.broadcast_to((SOURCE == 0)[:, None, None], scores.shape)
    assert (scores[padding] == 0).all()


def test_without_attention_there_are_no_scores():
    model = make(**KINDS["none"])
    with pytest.raises(ValueError, match="without attention has no scores"):
        model.cross_attention_scores(SOURCE, TARGET)
    with pytest.raises(ValueError, match="without attention has no scores"):
        model.initial_state(SOURCE, 5, return_attention_scores=True)


@pytest.mark.parametrize(
    ("kind", "search"),
    thorough_but(
        [("bahdanau", "greedy"), ("location_aware", "beam")],
        itertools.product(LOOKING, ["greedy", "beam"]),
    ),
)
def test_a_search_keeps_its_scores(kind, search):
    toys.assert_a_search_keeps_its_scores(make(**LOOKING[kind]), search)


@pytest.mark.parametrize("kind", ["bahdanau", "location_aware_luong"])
def test_scores_follow_prompts(kind):
    toys.assert_scores_follow_prompts(toys.sharpened(make(**LOOKING[kind])))


@tensorflow_only
def test_scores_of_sources_of_any_size():
    model = toys.sharpened(make(**LOOKING["location_aware"]))
    toys.assert_scores_of_sources_of_any_size(model)


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
@pytest.mark.parametrize("elsewhere", ["float32", "mixed_bfloat16"])
def test_scores_have_the_precision_of_the_model(dtype, elsewhere):
    keras.config.set_dtype_policy(elsewhere)
    try:
        model = make(**LOOKING["bahdanau"], dtype=dtype)
    finally:
        keras.config.set_dtype_policy("float32")
    toys.assert_scores_have_the_precision_of(model)


@pytest.mark.parametrize("kind", ["luong", "location_aware", "monotonic"])
def test_scores_in_half_precision(kind):
    model = make(**LOOKING[kind], dtype="mixed_bfloat16")
    toys.assert_scores_have_the_precision_of(model, may_leave=kind == "monotonic")


def test_config_round_trip():
    model = make(**KINDS["luong"], dropout=0.25, name="mine", dtype="mixed_bfloat16")
    config = keras.saving.serialize_keras_object(model)
    assert config["registered_name"] == "keras_attention>RecurrentSeq2Seq"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == model.get_config()


def test_reload(model, tmp_path):
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(toys.logits(again), toys.logits(model))
    np.testing.assert_array_equal(
        toys.stepped_logits(again), toys.stepped_logits(model)
    )


@pytest.mark.parametrize("kind", ["bahdanau", "none"])
def test_reload_in_half_precision(kind, tmp_path):
    """A model keeps its precision where the global one is another."""
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        model = make(**KINDS[kind])
    finally:
        keras.config.set_dtype_policy("float32")
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.decoder.compute_dtype == "bfloat16"
    assert "bfloat16" in str(again({"source": SOURCE, "target": TARGET}).dtype)
    np.testing.assert_array_equal(toys.logits(again), toys.logits(model))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attention": "bahdanau"}, "`attention` must be one of"),
        ({"order": "luon"}, "`order` must be one of"),
        ({"hidden_dim": 7}, "`hidden_dim` must be even"),
        ({"dropout": 1.0}, "`dropout`"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


@tensorflow_only
@pytest.mark.slow
def test_learns_to_reverse_and_looks_at_what_it_writes():
    model = make(**KINDS["bahdanau"], hidden_dim=32)
    toys.train(model, backwards=True)
    test = toys.Sequences(200, seed=1, backwards=True)
    for search in toys.searches(max_length=9).values():
        assert toys.share_solved(model, search, test) > 0.95
    (share,) = toys.shares_looked_right(model, test)
    print(f"looked at position S - 1 - t: {share}")
    assert share > 0.8
