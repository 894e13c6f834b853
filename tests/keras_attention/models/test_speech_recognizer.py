"""Speech recognizer: padding, decoding, losses by key, and what it learns."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import costs, losses, models
from keras_attention.decoding import (
    BeamSearch,
    Decodable,
    GreedySearch,
    JointCTC,
    ctc_beam_search,
    ctc_greedy_search,
)
from keras_attention.interpretation import capture
from tests.backend import (
    BACKEND,
    slow_on_jax,
    tensorflow_only,
    thorough_but,
    to_numpy,
    value_and_gradients,
)
from tests.keras_attention.models import toys
from tests.keras_attention.models.recognizers import (
    END,
    KINDS,
    LENGTHS,
    MASK,
    PLACES,
    START,
    TARGET,
    WRITING,
    Clips,
    D,
    F,
    N,
    V,
    compiled_for_training,
    frames,
    inputs,
    logits,
    make,
    real,
    steps,
    trained,
)

B, T = MASK.shape
S, U = PLACES.shape[1], TARGET.shape[1]


@pytest.fixture(scope="module")
def recognizers():
    """Of random weights, made when first asked for; tests leave them as they are."""
    made = {}

    def get(kind):
        if kind not in made:
            keras.utils.set_random_seed(0)
            made[kind] = toys.sharpened(make(kind))
        return made[kind]

    return get


@pytest.fixture(params=KINDS)
def model(request, recognizers):
    return recognizers(request.param)


@pytest.fixture(params=WRITING)
def writer(request, recognizers):
    return recognizers(request.param)


# ------------------------------------------------------------------- what it computes


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_what_the_objective_names(kind, recognizers):
    model = recognizers(kind)
    names = {"ctc": {"ctc"}, "attention": {"attention"}}.get(kind, {"ctc", "attention"})
    shapes = {"ctc": (B, S, V), "attention": (B, U, V)}
    found = logits(model)
    assert {name: x.shape for name, x in found.items()} == {
        name: shapes[name] for name in names
    }
    assert ("target" in model.input) == ("attention" in names)
    assert isinstance(model, Decodable)


@pytest.mark.parametrize("padding", thorough_but([np.nan], [0.0, np.nan]))
def test_padding_and_other_clips_change_nothing(model, padding):
    together = logits(model, padding)
    for row in range(B):
        for name, alone in logits(model, row=row).items():
            found = together[name][row, real(name)[row]]
            np.testing.assert_allclose(found, alone[0], rtol=1e-4, atol=1e-4)


def test_nan_in_padding_reaches_no_gradient(model):
    given = {name: ops.convert_to_tensor(x) for name, x in inputs(model).items()}

    def answer(frames):
        found = model({**given, "frames": frames}, training=False)
        flat = [ops.reshape(found[name], (-1,)) for name in sorted(found)]
        return ops.concatenate(flat)

    value, (gradient,) = value_and_gradients(
        answer, ops.convert_to_tensor(frames(np.nan))
    )
    assert np.isfinite(value).all()
    np.testing.assert_array_equal(gradient[~MASK], 0)
    assert (np.abs(gradient).max(axis=(1, 2)) > 0).all()


def test_ctc_logits_say_which_places_are_real(recognizers):
    model = recognizers("conformer")
    found = to_numpy(model(inputs(model))["ctc"])
    _, lengths = losses.ctc_lengths(TARGET, ops.convert_to_tensor(found), 0)
    assert to_numpy(lengths).tolist() == PLACES.sum(axis=1).tolist()
    memory, mask = model.encode(frames(), MASK)
    assert tuple(memory.shape) == (B, S, D)
    np.testing.assert_array_equal(to_numpy(mask), PLACES)
    again = to_numpy(model.ctc_logits(memory))
    np.testing.assert_allclose(again[PLACES], found[PLACES], atol=1e-5)


def test_a_clip_of_padding_alone_is_finite(model):
    given = inputs(model, np.nan)
    given["padding_mask"] = np.zeros_like(MASK)
    for x in model(given, training=False).values():
        assert np.isfinite(to_numpy(x)).all()


def test_costs_are_known(model):
    assert costs.report(model, batch=1, length=8).not_counted == []


# ----------------------------------------------------------------------- how it decodes


def test_decoding_is_as_teacher_forced(writer):
    found, expected = steps(writer), logits(writer)["attention"]
    written = TARGET != 0
    np.testing.assert_allclose(found[written], expected[written], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", thorough_but(["gru"], ["conformer", "gru"]))
def test_joint_decoding_of_a_row_is_as_alone_and_as_taught(kind, recognizers):
    """Its score is that of both objectives, and it hands on where it looked."""
    model, search = recognizers(kind), BeamSearch(4, START, END, num_beams=3)
    joint = JointCTC(model, 0.4)

    def decode(frames, mask):
        options = {"max_length": 4, "return_attention_scores": True}
        state = joint.initial_state(frames, mask, **options)
        return search.search(
            joint.step,
            state,
            batch_size=len(frames),
            keep=lambda state: state["model"]["attention_scores"],
        )

    found = decode(ops.convert_to_tensor(frames(np.nan)), ops.convert_to_tensor(MASK))
    tokens, scores = to_numpy(found.tokens)[:, 0], to_numpy(found.scores)
    length = LENGTHS[0]
    alone = decode(
        ops.convert_to_tensor(frames()[:1, :length]),
        ops.convert_to_tensor(MASK[:1, :length]),
    )
    np.testing.assert_array_equal(to_numpy(alone.tokens)[0, 0], tokens[0])
    np.testing.assert_allclose(to_numpy(alone.scores)[0], scores[0], rtol=1e-4)
    read = np.pad(tokens[:, :-1], [(0, 0), (1, 0)], constant_values=START)
    taught = to_numpy(model.cross_attention_scores(frames(), MASK, read))
    kept = to_numpy(found.kept)[:, 0]
    for row, count in enumerate(to_numpy(found.lengths)[:, 0]):
        np.testing.assert_allclose(
            kept[row, :, :count], taught[row, :, :count], atol=1e-4
        )


@tensorflow_only
def test_decodes_clips_of_any_number_and_length(recognizers):
    """In one TensorFlow function: joint, greedy and prefix search."""
    import tensorflow as tf

    model = recognizers("conformer")
    joint, search = JointCTC(model), GreedySearch(3, START, END)

    def run(frames, mask):
        memory, places = model.encode(frames, mask)
        heard = model.ctc_logits(memory)
        state = joint.initial_state(frames, mask, max_length=3)
        written = search.search(joint.step, state, batch_size=tf.shape(frames)[0])
        found = (
            ctc_greedy_search(heard, places),
            ctc_beam_search(heard, places, num_beams=2, max_length=3),
            written,
        )
        return [x.tokens for x in found]

    signature = [tf.TensorSpec((None, None, F)), tf.TensorSpec((None, None), tf.bool)]
    graph = tf.function(run, input_signature=signature, autograph=False)
    whole = graph(frames(), MASK)
    for row, length in list(enumerate(LENGTHS))[:2]:
        alone = graph(frames()[row : row + 1, :length], MASK[row : row + 1, :length])
        for x, y in zip(whole, alone, strict=True):
            width = min(x.shape[2], y.shape[2])
            np.testing.assert_array_equal(x[row, :, :width], y[0, :, :width])


def test_scores_are_over_the_places(writer):
    scores = to_numpy(writer.cross_attention_scores(frames(), MASK, TARGET))
    heads = 1 if writer.get_config()["decoder"] == "gru" else N
    assert scores.shape == (B, heads, U, S)
    written = np.broadcast_to((TARGET != 0)[:, None], scores.shape[:3])
    np.testing.assert_allclose(scores.sum(-1)[written], 1.0, atol=1e-5)
    hidden = np.broadcast_to(~PLACES[:, None, None], scores.shape)
    np.testing.assert_array_equal(scores[hidden], 0)


def test_every_score_can_be_captured(recognizers):
    model = recognizers("conformer")
    record = capture(model, inputs(model))
    assert {name: tuple(x.shape) for name, x in record.scores.items()} == {
        "encoder_0/self_attention": (B, N, S, S),
        "decoder_0/self_attention": (B, N, U, U),
        "decoder_0/cross_attention": (B, N, U, S),
    }


def test_what_an_objective_has_not_is_refused(recognizers):
    for call in (
        lambda model: model.initial_state(frames(), MASK, 3),
        lambda model: model.cross_attention_scores(frames(), MASK, TARGET),
        lambda model: model.step(TARGET[:, 0], {}),
    ):
        with pytest.raises(ValueError, match="'joint' or 'attention' for a decoder"):
            call(recognizers("ctc"))
    with pytest.raises(ValueError, match="'joint' or 'ctc' for CTC logits"):
        recognizers("attention").ctc_logits(np.zeros((1, 2, D), "float32"))


# ------------------------------------------------------------------------------ losses


@pytest.mark.parametrize("kind", slow_on_jax(["conformer", "ctc"], "conformer"))
def test_a_training_takes_the_loss_of_each_objective(kind):
    """By the frames of each clip alone, and says how many labels cannot fit."""
    model = make(kind)
    labels = {
        "ctc": np.array([[4, 6, 0], [5, 5, 5], [3, 7, 0]]),  # the last in one place
        "attention": np.array([[4, 6, 2, 0], [5, 2, 0, 0], [3, 7, 2, 0]]),
    }
    labels = {name: labels[name] for name in model.output}
    compiled_for_training(
        model, keras.optimizers.SGD(0.0), run_eagerly=BACKEND != "jax"
    )
    given = inputs(model, np.nan)
    found = model.train_on_batch(given, labels, return_dict=True)
    name = "ctc_impossible_labels" if kind != "ctc" else "impossible_labels"
    assert int(found[name]) == 1
    output = model(inputs(model), training=True)
    values = losses.ctc(labels["ctc"], output["ctc"], [2, 3, 2], [3, 5, 1])
    expected = 0.3 * to_numpy(values).sum() / 5
    if kind != "ctc":
        loss = losses.MaskedCrossentropy()
        expected += 0.7 * float(
            to_numpy(loss(labels["attention"], output["attention"]))
        )
    assert float(found["loss"]) == pytest.approx(expected, rel=1e-4)


# ------------------------------------------------------------------- saving and errors


@pytest.mark.parametrize("kind", thorough_but(["conformer", "gru"], KINDS))
def test_reload(kind, recognizers, tmp_path):
    model = recognizers(kind)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.get_config() == model.get_config()
    for name, x in logits(model).items():
        np.testing.assert_array_equal(logits(again)[name], x)
    if kind != "ctc":
        np.testing.assert_array_equal(steps(again), steps(model))


@pytest.mark.parametrize("kind", thorough_but(["conformer"], ["conformer", "gru"]))
def test_half_precision_and_config(kind):
    model = make(kind, dtype="mixed_bfloat16", dropout=0.1, name="mine")
    plain = make(kind)
    plain.set_weights(model.get_weights())
    found = model(inputs(model))
    for name, x in logits(plain).items():
        assert keras.backend.standardize_dtype(found[name].dtype) == "float32"
        # Some tens of roundings of 2^-9 in a row of numbers of size 1.
        np.testing.assert_allclose(to_numpy(found[name]), x, atol=0.15)
    assert model.get_layer("encoder_0").compute_dtype == "bfloat16"
    config = keras.saving.serialize_keras_object(model)
    assert config["registered_name"] == "keras_attention>SpeechRecognizer"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == model.get_config()
    step, _ = again.step(
        ops.convert_to_tensor(TARGET[:, 0]), again.initial_state(frames(), MASK, 3)
    )
    assert keras.backend.standardize_dtype(step.dtype) == "float32"


def test_the_small_conformer_of_the_paper():
    """Its table 1: 10.3 million parameters; the decoder there is another."""
    model = models.SpeechRecognizer(
        1024, 80, num_layers=16, filters=144, objective="ctc"
    )
    assert model.count_params() == pytest.approx(9e6, rel=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"encoder": "lstm"}, "`encoder` must be one of 'conformer', 'transformer'"),
        ({"decoder": "lstm"}, "`decoder` must be one of 'gru', 'transformer'"),
        ({"objective": "both"}, "`objective` must be one of 'attention', 'ctc'"),
        ({"num_layers": 0}, "`num_layers` must be a positive"),
        ({"num_heads": 5}, "`num_heads` must divide"),
        ({"filters": 0}, "`filters` must be a positive"),
        ({"encoder_options": {"kernel_size": 2}}, "`kernel_size` must be odd"),
        ({"decoder_options": {"num_layers": 0}}, "`num_layers` must be a positive"),
        ({"dropout": 1.0}, "`dropout`"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


# ----------------------------------------------------------------------- what it learns


def share_right(model, clips, weight):
    """Of texts, decoded with this much CTC."""
    search, room = BeamSearch(5, START, END, num_beams=3), {"max_length": 5}
    source = JointCTC(model, weight) if weight else model
    state = source.initial_state(clips.frames, clips.mask, **room)
    found = search.search(source.step, state, batch_size=len(clips.frames))
    tokens = to_numpy(found.tokens)[:, 0, :4]
    return (tokens == clips.labels(model)["attention"]).all(axis=1).mean()


@tensorflow_only
@pytest.mark.slow
def test_writes_what_clips_say_and_looks_at_where_they_say_it():
    model, clips = trained("gru", steps=120), Clips(100, seed=1)
    scores = to_numpy(model.cross_attention_scores(*clips.inputs(model).values()))
    # 5 places for each character, in their order.
    shares = scores[:, 0, :3].reshape(100, 3, 3, 5).sum(axis=-1)
    shares = np.diagonal(shares, axis1=1, axis2=2)[clips.characters != 0]
    right = share_right(model, clips, 0.3)
    print(f"right: {right}, on the character, of 1/3 by chance: {shares.mean()}")
    assert right > 0.9
    assert shares.mean() > 0.8


@tensorflow_only
@pytest.mark.slow
@pytest.mark.thorough
def test_ctc_puts_right_what_attention_alone_gets_wrong():
    """After few steps, when the decoder does not yet know where to look."""
    model, clips = trained("conformer", steps=120), Clips(100, seed=1)
    alone, joint = (share_right(model, clips, weight) for weight in (0.0, 0.3))
    print(f"right: {alone} by attention, {joint} with CTC")
    assert joint > alone + 0.1
    assert joint > 0.8


@pytest.mark.parametrize(
    ("encoder", "least"), [("conformer", 0.2), ("transformer", 0.4)]
)
def test_what_is_heard_is_not_drowned(encoder, least):
    """Untrained blocks add as much as they get: unscaled, places end nearly alike."""
    keras.utils.set_random_seed(0)
    model = models.SpeechRecognizer(
        30, 40, 96, encoder=encoder, objective="ctc", filters=8
    )
    clips = np.random.default_rng(0).normal(size=(2, 200, 40)).astype("float32")
    memory, _ = model.encode(clips, np.ones((2, 200), bool))
    memory = to_numpy(memory)
    assert memory.std(axis=1).mean() > least * memory.std()
