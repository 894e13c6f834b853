import itertools

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import blocks
from keras_attention.blocks.recurrent_decoder import ATTENTIONS
from tests.backend import (
    compiled,
    mask_of,
    tensor,
    to_numpy,
    with_mask,
)
from tests.contract import check_stays_in_padding

B, T, S, DI, DS, U = 3, 5, 7, 4, 3, 6
DM = U  # a dot product compares state and memory as they are
LENGTHS, MEMORY_LENGTHS = (5, 2, 1), (3, 7, 1)
MASK = np.arange(T) < np.array(LENGTHS)[:, None]
MEMORY_MASK = np.arange(S) < np.array(MEMORY_LENGTHS)[:, None]
LOOKING_BACK = [
    pytest.param(attention, order, id=f"{attention}-{order}")
    for attention, order in itertools.product(
        [name for name in ATTENTIONS if name != "none"], ["bahdanau", "luong"]
    )
]
ALL = [*LOOKING_BACK, pytest.param("none", "bahdanau", id="none")]


def make(attention, order="bahdanau", **options):
    return blocks.RecurrentDecoder(U, attention, order, **options)


def inputs():
    return tensor(B, T, DI), tensor(B, S, DM), tensor(B, DS)


@pytest.mark.parametrize(("attention", "order"), ALL)
def test_a_step_is_as_the_call(attention, order):
    decoder = make(attention, order)
    x, memory, summary = inputs()
    whole = to_numpy(decoder(x, memory, summary, memory_mask=MEMORY_MASK))
    state = decoder.initial_state(memory, summary, ops.convert_to_tensor(MEMORY_MASK))
    for t in range(T):
        y, state = decoder.step(x[:, t], state)
        np.testing.assert_allclose(to_numpy(y), whole[:, t], atol=1e-6)


@pytest.mark.parametrize("given", ["argument", "hidden"])
@pytest.mark.parametrize(("attention", "order"), ALL)
def test_a_padded_row_is_as_alone(attention, order, given):
    decoder = make(attention, order)
    x, memory, summary = inputs()
    if given == "argument":
        y = decoder(x, memory, summary, memory_mask=MEMORY_MASK)
    else:
        y = decoder(with_mask(x, MASK), with_mask(memory, MEMORY_MASK), summary)
    x, memory, summary = inputs()
    for row, (length, seen) in enumerate(zip(LENGTHS, MEMORY_LENGTHS, strict=True)):
        one = slice(row, row + 1)
        alone = decoder(x[one, :length], memory[one, :seen], summary[one])
        np.testing.assert_allclose(
            to_numpy(y)[row, :length], to_numpy(alone)[0], atol=1e-5
        )


@pytest.mark.parametrize(("attention", "order"), LOOKING_BACK)
def test_alignments_sum_to_one_and_are_zero_on_padding(attention, order):
    decoder = make(attention, order)
    plain = to_numpy(decoder(*inputs(), memory_mask=MEMORY_MASK))
    output, scores = decoder(
        *inputs(), memory_mask=MEMORY_MASK, return_attention_scores=True
    )
    np.testing.assert_allclose(to_numpy(output), plain, atol=1e-6)
    scores = to_numpy(scores)
    assert scores.shape == (B, T, S)
    if attention == "monotonic":  # it may walk past the end
        assert ((scores.sum(-1) > 0) & (scores.sum(-1) <= 1 + 1e-6)).all()
    else:
        np.testing.assert_allclose(scores.sum(-1), 1.0, atol=1e-6)
    assert (scores[~np.repeat(MEMORY_MASK[:, None], T, axis=1)] == 0).all()


@pytest.mark.parametrize(("attention", "order"), LOOKING_BACK)
def test_alignments_are_what_was_read(attention, order):
    """The context of every step is the alignment's mean of the memory."""
    decoder = make(attention, order)
    x, memory, summary = inputs()
    _, scores = decoder(x, memory, summary, return_attention_scores=True)
    state = decoder.initial_state(memory, summary)
    values = to_numpy(state[-2])[:, :, 0]
    for t in range(T):
        output, state = decoder.cell(x[:, t], state)
        context = to_numpy(output)[:, U:]
        expected = np.einsum("bs,bsd->bd", to_numpy(scores)[:, t], values)
        np.testing.assert_allclose(context, expected, atol=1e-5)


@pytest.mark.parametrize(("attention", "order"), ALL)
def test_the_future_changes_nothing_before(attention, order):
    decoder = make(attention, order)
    x, memory, summary = inputs()
    before = to_numpy(decoder(x, memory, summary))
    changed = to_numpy(x).copy()
    changed[:, -1] += 1.0
    after = to_numpy(decoder(ops.convert_to_tensor(changed), memory, summary))
    np.testing.assert_array_equal(after[:, :-1], before[:, :-1])
    assert np.abs(after[:, -1] - before[:, -1]).max() > 1e-4


@pytest.mark.parametrize(("attention", "order"), ALL)
def test_nan_in_padding_stays_there(attention, order):
    decoder, (*hidden, summary) = make(attention, order), inputs()
    decoder(*hidden, summary)

    def decode(x, memory):
        return decoder(x, memory, summary, inputs_mask=MASK, memory_mask=MEMORY_MASK)

    check_stays_in_padding(decoder, decode, hidden, [MASK, MEMORY_MASK])


@pytest.mark.parametrize("hidden", [None, ~MASK], ids=["no_other", "another"])
def test_carries_an_explicit_mask(hidden):
    decoder, (x, memory, summary) = make("additive"), inputs()
    x = x if hidden is None else with_mask(x, hidden)
    for flags in ({}, {"return_attention_scores": True}):
        y = decoder(x, memory, summary, inputs_mask=MASK, **flags)
        np.testing.assert_array_equal(mask_of(y[0] if flags else y), MASK)


def test_scores_leave_the_losses():
    decoder = make("additive", activity_regularizer="l2")
    decoder(*inputs())
    (expected,) = [to_numpy(loss) for loss in decoder.losses]
    decoder(*inputs(), return_attention_scores=True)
    found = [to_numpy(loss) for loss in decoder.losses]
    np.testing.assert_allclose(found, [expected], rtol=1e-5)


def test_without_attention_only_the_summary_is_read():
    decoder = make("none")
    x, memory, summary = inputs()
    before = to_numpy(decoder(x, memory, summary))
    np.testing.assert_array_equal(to_numpy(decoder(x, 2 * memory, summary)), before)
    changed = to_numpy(decoder(x, memory, 2 * summary))
    assert (np.abs(changed - before).max(axis=-1) > 1e-4).all()


@pytest.mark.parametrize(("attention", "order"), [LOOKING_BACK[0], ALL[-1]])
def test_static_shapes(attention, order):
    decoder = make(attention, order)
    shapes = [(None, None, DI), (None, None, DM), (None, DS)]
    arguments = [keras.Input(batch_shape=shape) for shape in shapes]
    assert decoder(*arguments).shape == (None, None, U)
    if attention != "none":
        output, scores = decoder(*arguments, return_attention_scores=True)
        assert (output.shape, scores.shape) == ((None, None, U), (None, None, None))


def test_scores_can_be_asked_for_in_a_second_call():
    decoder = make("additive")
    shapes = [(None, None, DI), (None, None, DM), (None, DS)]
    arguments = [keras.Input(batch_shape=shape) for shape in shapes]
    plain = decoder(*arguments)
    outputs = decoder(*arguments, return_attention_scores=True)
    found = keras.Model(arguments, [plain, *outputs])(list(inputs()))
    np.testing.assert_allclose(to_numpy(found[0]), to_numpy(found[1]), atol=1e-6)


@pytest.mark.parametrize(("attention", "order"), [LOOKING_BACK[0], ALL[-1]])
def test_compiled_is_as_eager(attention, order):
    decoder = make(attention, order)
    eager = to_numpy(decoder(*inputs()))
    graph = compiled(lambda x, memory, summary: decoder(x, memory, summary))(*inputs())
    np.testing.assert_allclose(to_numpy(graph), eager, atol=1e-6)


@pytest.mark.parametrize(("attention", "order"), ALL)
def test_reload(attention, order, tmp_path):
    shapes = [(None, None, DI), (None, None, DM), (None, DS)]
    arguments = [keras.Input(batch_shape=shape) for shape in shapes]
    model = keras.Model(arguments, make(attention, order)(*arguments))
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    found, expected = again(list(inputs())), model(list(inputs()))
    np.testing.assert_array_equal(to_numpy(found), to_numpy(expected))


def test_config_round_trip():
    decoder = make("general", "luong", name="mine", dtype="mixed_bfloat16")
    config = keras.saving.serialize_keras_object(decoder)
    assert config["registered_name"] == "keras_attention>RecurrentDecoder"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == decoder.get_config()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0,), "`units` must be a positive integer"),
        ((U, "bahdanau"), "`attention` must be one of 'additive', 'coverage'"),
        ((U, "additive", "luon"), "`order` must be one of 'bahdanau', 'luong'"),
    ],
)
def test_wrong_arguments(arguments, words):
    with pytest.raises(ValueError, match=words):
        blocks.RecurrentDecoder(*arguments)


def test_without_attention_the_order_is_checked_too():
    with pytest.raises(ValueError, match="`order` must be one of"):
        make("none", "luon")


def test_without_attention_there_are_no_scores():
    with pytest.raises(ValueError, match="without attention has no scores"):
        make("none")(*inputs(), return_attention_scores=True)
