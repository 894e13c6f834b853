"""Pointer-generators on both backbones: the mixture, decoding, coverage, copying."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import losses, models
from keras_attention.decoding import Decodable, NoRepeatNGrams
from tests.backend import tensorflow_only, to_numpy
from tests.keras_attention.models import toys
from tests.keras_attention.models.toys import SOURCE, TARGET, VOCABULARY


def transformer(**options):
    sizes = {"num_layers": 1, "num_heads": 2, "hidden_dim": 16, "intermediate_dim": 24}
    return models.TransformerSeq2Seq(VOCABULARY, **{**sizes, **options})


def gru(attention="coverage", **options):
    return models.RecurrentSeq2Seq(VOCABULARY, 12, attention, "luong", **options)


BACKBONES = {"transformer": transformer, "gru": gru}


def make(backbone, coverage_weight=0.0, **options):
    inside = BACKBONES[backbone](**options)
    return models.PointerGenerator(inside, coverage_weight)


@pytest.fixture(params=BACKBONES)
def model(request):
    return toys.sharpened(make(request.param))


def probabilities(model, source=SOURCE, target=TARGET):
    return to_numpy(ops.softmax(toys.logits(model, source, target), axis=-1))


def test_equals_its_formula(model):
    """Equations 8 and 9, from the parts of the model."""
    memory, summary, mask = model.encode(SOURCE)
    text = model.text_decoder
    hidden, scores = text.read(
        TARGET, memory, summary, mask, return_attention_scores=True
    )
    attention = to_numpy(scores)[:, 0]
    context = attention @ to_numpy(memory)
    read = [context, to_numpy(hidden), to_numpy(model.embedding(TARGET))]
    kernel, bias = map(to_numpy, model.head.gate_dense.weights)
    gate = np.concatenate(read, axis=-1) @ kernel + bias
    p = 1 / (1 + np.exp(-gate))
    copied = np.zeros((*TARGET.shape, VOCABULARY))
    for place in range(SOURCE.shape[1]):
        for row in range(len(SOURCE)):
            copied[row, :, SOURCE[row, place]] += attention[row, :, place]
    made = to_numpy(ops.softmax(text.predict(hidden), axis=-1))
    expected, real = p * made + (1 - p) * copied, TARGET != 0
    np.testing.assert_allclose(probabilities(model)[real], expected[real], atol=1e-5)
    details = model.copy_details(SOURCE, TARGET)
    found = to_numpy(details.generation_probability)
    np.testing.assert_allclose(found, p[..., 0], atol=1e-5)
    np.testing.assert_allclose(
        to_numpy(details.copy_probability), (1 - p) * attention, atol=1e-5
    )
    before = np.cumsum(attention, axis=1) - attention
    np.testing.assert_allclose(to_numpy(details.coverage), before, atol=1e-5)


def test_static_shapes(model):
    assert model.output_shape == (None, None, VOCABULARY)
    assert isinstance(model, Decodable)
    assert toys.logits(model).shape == (*TARGET.shape, VOCABULARY)


def test_padding_changes_nothing(model):
    together = probabilities(model)
    for row in range(len(SOURCE)):
        one, source, target = slice(row, row + 1), SOURCE[row] != 0, TARGET[row] != 0
        alone = probabilities(model, SOURCE[one][:, source], TARGET[one][:, target])
        np.testing.assert_allclose(together[row, target], alone[0], atol=1e-5)


def test_the_future_changes_nothing_before(model):
    changed = TARGET.copy()
    changed[:, -1] = 9
    before, after = toys.logits(model), toys.logits(model, target=changed)
    np.testing.assert_allclose(after[:, :-1], before[:, :-1], atol=1e-6)
    assert np.abs(after[0, -1] - before[0, -1]).max() > 1e-3


def test_decoding_is_as_teacher_forced(model):
    expected, found = toys.logits(model), toys.stepped_logits(model)
    real = TARGET != 0
    np.testing.assert_allclose(found[real], expected[real], atol=1e-5)


@pytest.mark.parametrize(
    ("backbone", "search"), [("transformer", "beam"), ("gru", "greedy")]
)
def test_a_row_is_decoded_alone_as_in_a_batch(backbone, search):
    model, search = toys.sharpened(make(backbone)), toys.searches()[search]
    toys.assert_decodes_a_row_alone_as_in_a_batch(
        lambda source: toys.decode(model, search, source)
    )


def test_no_token_is_written_twice():
    search = toys.searches(rules=[NoRepeatNGrams(1)])["beam"]
    tokens, _ = toys.decode(toys.sharpened(make("transformer")), search)
    for row in tokens.reshape(-1, tokens.shape[-1]):
        written = row[row != 0]
        assert len(set(written)) == len(written)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backbone", "search"), [("transformer", "greedy"), ("gru", "beam")]
)
def test_a_search_keeps_its_scores(backbone, search):
    toys.assert_a_search_keeps_its_scores(make(backbone), search)


@tensorflow_only
def test_scores_of_sources_of_any_size():
    toys.assert_scores_of_sources_of_any_size(toys.sharpened(make("gru")))


def test_the_penalty_is_added_in_training_only():
    model = make("transformer", coverage_weight=3.0)
    inputs = {"source": SOURCE, "target": TARGET}
    model(inputs, training=False)
    assert not model.losses
    model(inputs, training=True)
    (penalty,) = model.losses
    scores = model.copy_details(SOURCE, TARGET).attention_scores[:, 0]
    expected = 3 * to_numpy(losses.coverage_penalty(scores, TARGET != 0))
    np.testing.assert_allclose(to_numpy(penalty), expected, rtol=1e-5)


def test_half_precision_answers_in_single():
    model = make("transformer", dtype="mixed_bfloat16")
    found = model({"source": SOURCE, "target": TARGET})
    assert keras.backend.standardize_dtype(found.dtype) == "float32"
    assert model.head.gate_dense.compute_dtype == "bfloat16"


@pytest.mark.parametrize("backbone", BACKBONES)
def test_config_round_trip_and_reload(backbone, tmp_path):
    model = make(backbone, coverage_weight=0.5, dropout=0.1)
    again = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(model)
    )
    assert again.get_config() == model.get_config()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(toys.logits(again), toys.logits(model))
    np.testing.assert_array_equal(
        toys.stepped_logits(again), toys.stepped_logits(model)
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: models.PointerGenerator(gru("none")), "without attention has no"),
        (lambda: models.PointerGenerator(gru(), -1.0), "`coverage_weight` must be"),
        (lambda: models.PointerGenerator(keras.layers.Dense(3)), "`seq2seq` must be"),
    ],
)
def test_wrong_arguments(make, words):
    with pytest.raises(ValueError, match=words):
        make()


# ---------------------------------------------------------------- what copying is for

# Tokens that training shows in no target and in no source.
UNSEEN = (10, 11, 12)


@tensorflow_only
@pytest.mark.slow
def test_copies_what_it_has_never_seen(monkeypatch):
    model = make("transformer", hidden_dim=32, intermediate_dim=64)
    with monkeypatch.context() as patch:  # training draws from fewer tokens
        patch.setattr(toys, "VOCABULARY", min(UNSEEN))
        toys.train(model, backwards=False, steps=300)
    test = toys.Sequences(100, seed=1, backwards=False)
    is_unseen = np.isin(test.labels, UNSEEN)
    found = toys.logits(model, test.source, test.inputs["target"]).argmax(axis=-1)
    share = np.mean((found == test.labels)[is_unseen])
    print(f"unseen tokens written: {share:.2f}; without copying none")
    assert share > 0.25
