"""Image captioner: what it computes, how it decodes, where it looks, what it learns."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import costs, losses, models
from keras_attention.decoding import Decodable
from keras_attention.interpretation import capture, word_maps
from tests.backend import (
    BACKEND,
    slow_on_jax,
    tensorflow_only,
    thorough_but,
    to_numpy,
)
from tests.keras_attention.models import toys
from tests.keras_attention.models.captioners import (
    GRID,
    IMAGES,
    LENGTH,
    PLACES,
    WRITES,
    B,
    D,
    N,
    decoder,
    logits,
    make,
    share_told,
    shares_on_the_spot,
    steps,
    trained,
)
from tests.keras_attention.models.toys import TARGET, VOCABULARY


@pytest.fixture(params=["gru", "none", "transformer"], scope="module")
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def model(kind):
    """Of random weights; tests leave it as it is."""
    keras.utils.set_random_seed(0)
    return toys.sharpened(make(kind))


# ------------------------------------------------------------------- what it computes


def test_shapes(model):
    assert model.output_shape == (None, None, VOCABULARY)
    assert isinstance(model, Decodable)
    assert model.grid == GRID
    assert logits(model).shape == (*TARGET.shape, VOCABULARY)
    memory, summary = model.encode(IMAGES)
    assert (tuple(memory.shape), tuple(summary.shape)) == ((B, PLACES, D), (B, D))


def test_padding_and_other_rows_change_nothing(model):
    one, real = slice(1, 2), TARGET[1] != 0
    assert 1 < real.sum() < LENGTH
    alone = logits(model, IMAGES[one], TARGET[one][:, real])
    np.testing.assert_allclose(logits(model)[1, real], alone[0], atol=1e-5)


def test_the_future_changes_nothing_before(model):
    changed = TARGET.copy()
    changed[:, -1] = 9
    before, after = logits(model), logits(model, target=changed)
    np.testing.assert_array_equal(after[:, :-1], before[:, :-1])
    assert np.abs(after[0, -1] - before[0, -1]).max() > 1e-3


def test_the_image_counts(model):
    assert np.abs(logits(model) - logits(model, 255 - IMAGES)).max() > 1e-2


def test_without_attention_only_the_mean_is_read():
    """Places may change places: what a step sees is the same."""
    model = toys.sharpened(make("none"))
    memory, summary = model.encode(IMAGES)
    text = model.text_decoder
    found = text.predict(text.read(TARGET, ops.flip(memory, axis=1), summary))
    np.testing.assert_allclose(to_numpy(found), logits(model), atol=1e-6)
    np.testing.assert_allclose(to_numpy(ops.mean(memory, 1)), to_numpy(summary))


@pytest.mark.parametrize("positions", ["learned", "sinusoidal_2d", "none"])
def test_positions_are_added_to_the_projected_places(positions):
    model = make(positions=positions)
    features = to_numpy(model.encoder(IMAGES))
    layer = model.get_layer("projection")
    expected = features @ to_numpy(layer.kernel) + to_numpy(layer.bias)
    if positions != "none":
        zeros = np.zeros((1, PLACES, D), "float32")
        added = to_numpy(model.get_layer("positions")(zeros))
        assert len(np.unique(added[0].round(4), axis=0)) == PLACES
        expected = expected + added
    found = to_numpy(model.encode(IMAGES)[0])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_costs_are_known(model):
    assert costs.report(model, batch=1, length=LENGTH).not_counted == []


# ----------------------------------------------------------------------- how it decodes


def test_decoding_is_as_teacher_forced(model):
    real = TARGET != 0
    np.testing.assert_allclose(steps(model)[real], logits(model)[real], atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "search"),
    [
        ("gru", "beam"),
        pytest.param("gru", "greedy", marks=pytest.mark.slow),
        pytest.param("none", "beam", marks=pytest.mark.slow),
        pytest.param("transformer", "greedy", marks=pytest.mark.slow),
        pytest.param("transformer", "beam", marks=pytest.mark.slow),
    ],
)
def test_a_search(kind, search):
    """A row is decoded alone as in a batch, its scores those of what it returns."""
    model = toys.sharpened(make(kind))
    search = toys.searches(**toys.RULED)[search]
    decode = decoder(model, search, scores=kind != "none")
    tokens, lengths, scores, kept = decode(IMAGES[:2])
    own_tokens, _, own_scores, _ = decode(IMAGES[:1])
    np.testing.assert_array_equal(tokens[0], own_tokens[0])
    np.testing.assert_allclose(scores[0], own_scores[0], atol=1e-5)
    if kept is None:
        return
    for place in range(tokens.shape[1]):
        start = np.full((2, 1), toys.START)
        read = np.concatenate([start, tokens[:, place, :-1]], axis=-1)
        taught = to_numpy(model.cross_attention_scores(IMAGES[:2], read))
        for row, count in enumerate(lengths[:, place]):
            maps = word_maps(kept[row, place], GRID, count)
            expected = taught[row, :, :count].mean(0).reshape(count, *GRID)
            np.testing.assert_allclose(maps, expected, atol=1e-5)


# ----------------------------------------------------------------------- where it looks


@pytest.mark.parametrize("kind", ["gru", "luong", "transformer"])
def test_scores_are_over_the_places(kind):
    model = toys.sharpened(make(kind))
    scores = to_numpy(model.cross_attention_scores(IMAGES, TARGET))
    heads = N if kind == "transformer" else 1
    assert scores.shape == (B, heads, LENGTH, PLACES)
    real = np.broadcast_to((TARGET != 0)[:, None], scores.shape[:3])
    np.testing.assert_allclose(scores.sum(-1)[real], 1.0, atol=1e-5)


def test_without_attention_there_are_no_scores():
    model = make("none")
    with pytest.raises(ValueError, match="without attention has no scores"):
        model.cross_attention_scores(IMAGES, TARGET)
    with pytest.raises(ValueError, match="without attention has no scores"):
        model.initial_state(IMAGES, 5, return_attention_scores=True)


def test_every_score_can_be_captured():
    record = capture(make("transformer"), {"image": IMAGES, "target": TARGET})
    shapes = {name: tuple(x.shape) for name, x in record.scores.items()}
    tokens = PLACES + 1  # and the class token, which the decoder does not see
    expected = {"features/encoder_0/self_attention": (B, N, tokens, tokens)}
    for i in range(2):
        expected[f"decoder_{i}/self_attention"] = (B, N, LENGTH, LENGTH)
        expected[f"decoder_{i}/cross_attention"] = (B, N, LENGTH, PLACES)
    assert shapes == expected


def test_capture_and_cross_attention_scores_agree():
    model = toys.sharpened(make("gru"))
    record = capture(model, {"image": IMAGES, "target": TARGET})
    expected = to_numpy(model.cross_attention_scores(IMAGES, TARGET))[:, 0]
    found = record.numpy("decoder/attention_cell")
    np.testing.assert_allclose(found, expected, atol=1e-6)


# ----------------------------------------------------------------------- regularisation


def in_training(model):
    """Logits and losses of a call in training."""
    output = model({"image": IMAGES, "target": TARGET}, training=True)
    return to_numpy(output), [to_numpy(loss) for loss in model.losses]


def test_the_doubly_stochastic_penalty_is_added_in_training():
    plain = toys.sharpened(make("luong"))
    model = make("luong", doubly_stochastic=0.5)
    model.set_weights(plain.get_weights())
    expected, nothing = in_training(plain)
    found, (penalty,) = in_training(model)
    assert nothing == []
    np.testing.assert_array_equal(found, expected)
    scores = to_numpy(plain.cross_attention_scores(IMAGES, TARGET))[:, 0]
    rows = [
        ((1 - scores[row][TARGET[row] != 0].sum(axis=0)) ** 2).mean()
        for row in range(B)
    ]
    np.testing.assert_allclose(penalty, 0.5 * np.mean(rows), rtol=1e-5)
    logits(model)
    assert model.losses == []


def test_a_training_adds_the_penalty():
    model = make(doubly_stochastic=10.0)
    loss, eagerly = losses.MaskedCrossentropy(), BACKEND != "jax"
    model.compile(keras.optimizers.SGD(0.0), loss, run_eagerly=eagerly)
    inputs = {"image": IMAGES, "target": TARGET}
    total = float(model.train_on_batch(inputs, TARGET))
    output, (penalty,) = in_training(model)
    alone = float(loss(TARGET, ops.convert_to_tensor(output)))
    assert penalty > 0.1
    assert total == pytest.approx(alone + penalty, rel=1e-4)


@pytest.mark.parametrize("kind", ["none", "transformer"])
def test_a_penalty_needs_a_gru_with_attention(kind):
    with pytest.raises(ValueError, match="`doubly_stochastic` is at least 0, and for"):
        make(kind, doubly_stochastic=1.0)


# ------------------------------------------------------------------- saving and errors


def test_reload(kind, model, tmp_path):
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.get_config() == model.get_config()
    np.testing.assert_array_equal(logits(again), logits(model))
    np.testing.assert_array_equal(steps(again), steps(model))


@pytest.mark.parametrize("kind", slow_on_jax(["gru", "transformer"], "gru"))
def test_half_precision(kind, tmp_path):
    model = make(kind, dtype="mixed_bfloat16", dropout=0.1)
    plain = make(kind)
    plain.set_weights(model.get_weights())
    output = model({"image": IMAGES, "target": TARGET})
    assert keras.backend.standardize_dtype(output.dtype) == "float32"
    assert model.get_layer("projection").compute_dtype == "bfloat16"
    # Some tens of roundings of 2^-9 in a row of numbers of size 1.
    np.testing.assert_allclose(to_numpy(output), logits(plain), atol=0.1)
    step, _ = model.step(
        ops.convert_to_tensor(TARGET[:, 0]), model.initial_state(IMAGES, 3)
    )
    assert keras.backend.standardize_dtype(step.dtype) == "float32"
    np.testing.assert_allclose(to_numpy(step), to_numpy(output)[:, 0], atol=0.1)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.get_layer("projection").compute_dtype == "bfloat16"
    np.testing.assert_array_equal(logits(again), to_numpy(output))


def test_config_round_trip():
    model = make(
        "luong",
        dropout=0.25,
        doubly_stochastic=0.1,
        name="mine",
        dtype="mixed_bfloat16",
    )
    config = keras.saving.serialize_keras_object(model)
    assert config["registered_name"] == "keras_attention>ImageCaptioner"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == model.get_config()
    assert again.get_layer("doubly_stochastic").weight == 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"encoder": "resnet"}, "`encoder` must be one of 'cnn', 'vit'"),
        ({"decoder": "lstm"}, "`decoder` must be one of 'gru', 'transformer'"),
        ({"positions": "rotary"}, "`positions` must be one of 'learned', 'none'"),
        ({"encoder_options": {"num_classes": 3}}, "takes neither `num_classes` nor"),
        ({"decoder_options": {"attention": "bahdanau"}}, "`attention` must be one of"),
        ({"dropout": 1.0}, "`dropout`"),
        ({"doubly_stochastic": -1.0}, "`doubly_stochastic` is at least 0"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


def test_images_have_a_fixed_size():
    with pytest.raises(ValueError, match="`input_shape` must be a positive integer"):
        models.ImageCaptioner(VOCABULARY, (None, None, 3), D)


# ----------------------------------------------------------------------- what it learns


@tensorflow_only
@pytest.mark.slow
@pytest.mark.parametrize("kind", thorough_but(["gru"], ["gru", "transformer"]))
def test_tells_where_the_spot_is_and_looks_at_it(kind):
    model = trained(**WRITES[kind])
    for search in toys.searches(max_length=5).values():
        assert share_told(model, search) > 0.95
    shares = shares_on_the_spot(model)
    print(f"on the spot, of 1/6 by chance: {shares}")
    assert (shares > 0.4).all()


@tensorflow_only
@pytest.mark.slow
def test_without_attention_nobody_knows_where_the_spot_is():
    """The mean of the places has all of them: one in six is right by chance."""
    share = share_told(trained(**WRITES["none"]), toys.searches(max_length=5)["greedy"])
    print(f"without attention: {share}")
    assert share < 0.3
