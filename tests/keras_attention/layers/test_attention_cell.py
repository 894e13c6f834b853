"""Attention inside a recurrent decoder: both orders step by step, masks, reload."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers, masks
from tests.backend import of_variables, tensor, to_numpy, value_and_gradients
from tests.recurrent import Recurrent

B, T, S, U, D, M = 2, 5, 7, 11, 13, 17  # units, input size, memory size

CELLS = {"gru": keras.layers.GRUCell, "lstm": keras.layers.LSTMCell}


def cell_of(order="bahdanau", cell="gru", attention=None):
    attention = attention or layers.AdditiveAttention(3)
    built = layers.AttentionCell(CELLS[cell](U), attention, order=order)
    built.build_for((B, T, D), (B, S, M))
    return built


def run(cell, x, memory, memory_mask=None):
    """Outputs of all steps and the alignments."""
    state = cell.memory_state(memory, memory_mask)
    outputs = keras.layers.RNN(cell, return_sequences=True)(x, initial_state=state)
    return to_numpy(outputs), to_numpy(cell.alignments(outputs, state))


@pytest.mark.parametrize("cell_name", CELLS)
@pytest.mark.parametrize("order", ["bahdanau", "luong"])
def test_steps_follow_the_equations(order, cell_name):
    """The loop written out with the layer's own parts."""
    cell, x, memory = cell_of(order, cell_name), tensor(B, T, D), tensor(B, S, M)
    outputs, alignments = run(cell, x, memory)
    state = cell.cell.get_initial_state(batch_size=B)
    state = state if isinstance(state, list) else [state]
    context = ops.zeros((B, M))
    for step in range(T):
        if order == "bahdanau":
            context, scores = attend(cell, state[0], memory)
        inputs = ops.concatenate([x[:, step], context], axis=-1)
        output, state = cell.cell(inputs, state)
        state = state if isinstance(state, list) else [state]
        if order == "luong":
            context, scores = attend(cell, state[0], memory)
        expected = ops.concatenate([output, context], axis=-1)
        np.testing.assert_allclose(outputs[:, step], to_numpy(expected), atol=1e-5)
        np.testing.assert_allclose(alignments[:, step], to_numpy(scores), atol=1e-5)


def attend(cell, query, memory):
    """Context `(B, M)` and scores `(B, S)` from the attention layer itself."""
    context, scores = cell.attention(
        query[:, None], memory, return_attention_scores=True
    )
    return context[:, 0], scores[:, 0]


@pytest.mark.parametrize("order", ["bahdanau", "luong"])
def test_padded_memory_is_as_if_it_were_not_there(order):
    """Whatever is stored at the padded positions."""
    cell, x = cell_of(order), tensor(B, T, D)
    memory = to_numpy(tensor(B, S, M)).copy()
    short, short_alignments = run(cell, x, ops.convert_to_tensor(memory[:, :4]))
    memory[:, 4:] = np.nan
    mask = np.arange(S)[None] < np.full((B, 1), 4)
    found, alignments = run(cell, x, ops.convert_to_tensor(memory), mask)
    np.testing.assert_allclose(found, short, atol=1e-6)
    np.testing.assert_allclose(alignments[..., :4], short_alignments, atol=1e-6)
    assert (alignments[..., 4:] == 0).all()


@pytest.mark.parametrize(
    "attention",
    [
        layers.DotProductAttention,
        layers.GeneralAttention,
        layers.KernelAttention,
        lambda: layers.AdditiveAttention(3),
    ],
)
def test_takes_any_single_head_score(attention):
    layer = attention()
    same_size = not isinstance(
        layer, (layers.GeneralAttention, layers.AdditiveAttention)
    )
    memory = tensor(B, S, U if same_size else M)
    cell = layers.AttentionCell(keras.layers.GRUCell(U), layer)
    cell.build_for((B, T, D), memory.shape)
    outputs, alignments = run(cell, tensor(B, T, D), memory)
    assert outputs.shape == (B, T, U + memory.shape[-1])
    np.testing.assert_allclose(alignments.sum(-1), 1, atol=1e-5)


REMEMBERING = {
    "location_aware": lambda: layers.LocationAwareAttention(
        3, filters=2, kernel_size=3
    ),
    "monotonic": lambda: layers.MonotonicAttention(3),
}


@pytest.mark.parametrize("attention", REMEMBERING)
@pytest.mark.parametrize("order", ["bahdanau", "luong"])
def test_attention_that_remembers_is_the_layer_over_all_queries_so_far(
    order, attention
):
    """Each step's context is the last row of the layer called on every query yet."""
    cell = cell_of(order, "lstm", REMEMBERING[attention]())
    x, memory = tensor(B, T, D), tensor(B, S, M)
    mask = np.arange(S)[None] < np.array([[5], [S]])
    outputs, alignments = run(cell, x, memory, mask)
    state, context, queries = cell.cell.get_initial_state(batch_size=B), None, []

    def look(query):
        queries.append(query)
        context, scores = cell.attention(
            ops.stack(queries, axis=1),
            memory,
            value_mask=mask,
            return_attention_scores=True,
        )
        return context[:, -1], scores[:, -1]

    context = ops.zeros((B, M))
    for step in range(T):
        if order == "bahdanau":
            context, scores = look(state[0])
        output, state = cell.cell(ops.concatenate([x[:, step], context], -1), state)
        if order == "luong":
            context, scores = look(state[0])
        expected = ops.concatenate([output, context], axis=-1)
        np.testing.assert_allclose(outputs[:, step], to_numpy(expected), atol=1e-5)
        np.testing.assert_allclose(alignments[:, step], to_numpy(scores), atol=1e-5)


def test_only_an_attention_that_remembers_has_alignments_in_the_state():
    memory = tensor(B, S, M)
    plain = cell_of()
    assert len(plain.memory_state(memory)) == len(plain.state_size) == 5
    for attention in REMEMBERING.values():
        cell = cell_of(attention=attention())
        state = cell.memory_state(memory)
        assert len(state) == len(cell.state_size) == 6
        assert tuple(state[2].shape) == (B, S)


@pytest.mark.parametrize("attention", REMEMBERING)
def test_alignments_continue_where_a_first_part_ended(attention):
    """Decoding in two parts, the state handed over, is decoding at once."""
    cell = cell_of("luong", attention=REMEMBERING[attention]())
    x, memory = tensor(B, T, D), tensor(B, S, M)
    outputs, alignments = run(cell, x, memory)
    loop = keras.layers.RNN(cell, return_sequences=True, return_state=True)
    first, *state = loop(x[:, :2], initial_state=cell.memory_state(memory))
    second = loop(x[:, 2:], initial_state=state)[0]
    found = ops.concatenate([first, second], axis=1)
    np.testing.assert_allclose(to_numpy(found), outputs, atol=1e-5)
    rest = cell.alignments(second, state)
    np.testing.assert_allclose(to_numpy(rest), alignments[:, 2:], atol=1e-5)


@pytest.mark.parametrize("attention", REMEMBERING)
def test_gradients_reach_all_weights_through_the_alignments(attention):
    cell = cell_of("luong", attention=REMEMBERING[attention]())
    x, memory = tensor(B, T, D), tensor(B, S, M)
    loop = keras.layers.RNN(cell, return_sequences=True)

    def decode(x, memory):
        return loop(x, initial_state=cell.memory_state(memory))

    function, variables = of_variables(cell, decode)
    _, gradients = value_and_gradients(function, *variables, x, memory)
    assert all((gradient != 0).any() for gradient in gradients)


def test_decoder_starts_from_the_given_state():
    cell, x, memory = cell_of(), tensor(B, T, D), tensor(B, S, M)
    state = cell.memory_state(memory, cell_state=[tensor(B, U, seed=5)])
    other = keras.layers.RNN(cell, return_sequences=True)(x, initial_state=state)
    assert not np.allclose(to_numpy(other), run(cell, x, memory)[0], atol=1e-3)


def test_gradients_reach_memory_and_all_weights():
    cell, x, memory = cell_of("luong"), tensor(B, T, D), tensor(B, S, M)
    loop = keras.layers.RNN(cell, return_sequences=True)

    def decode(x, memory):
        return loop(x, initial_state=cell.memory_state(memory))

    function, variables = of_variables(cell, decode)
    _, gradients = value_and_gradients(function, *variables, x, memory)
    assert all((gradient != 0).any() for gradient in gradients)


@pytest.mark.slow
def test_learns_to_look_where_it_must():
    """The decoder reverses its memory: only alignment can do that."""
    random = np.random.default_rng(0)
    memory = random.normal(size=(256, 4, 6)).astype("float32")
    x = np.tile(np.eye(4, dtype="float32"), (256, 1, 1))
    positions = np.tile(np.eye(4, dtype="float32"), (256, 1, 1))
    memory = np.concatenate([memory, 3 * positions], axis=-1)
    cell = layers.AttentionCell(
        keras.layers.GRUCell(16), layers.AdditiveAttention(16), order="luong"
    )
    inputs = [keras.Input(x.shape[1:]), keras.Input(memory.shape[1:])]
    outputs = Recurrent(cell)(*inputs)
    model = keras.Model(inputs, outputs[..., -10:-4])
    model.compile(keras.optimizers.Adam(0.02), "mse")
    model.fit([x, memory], memory[:, ::-1, :6], epochs=30, batch_size=64, verbose=0)
    _, alignments = run(cell, ops.convert_to_tensor(x), ops.convert_to_tensor(memory))
    assert (alignments.argmax(-1) == [3, 2, 1, 0]).mean() > 0.95


def test_must_know_its_memory_first():
    cell = layers.AttentionCell(keras.layers.GRUCell(U), layers.AdditiveAttention(3))
    with pytest.raises(
        ValueError, match=r"Call `build_for\(inputs_shape, memory_shape"
    ):
        cell.build((B, D))


def test_unknown_order_is_refused():
    with pytest.raises(ValueError, match="`order` must be one of 'bahdanau', 'luong'"):
        layers.AttentionCell(
            keras.layers.GRUCell(U), layers.AdditiveAttention(U), order="later"
        )


@pytest.mark.parametrize(
    "attention",
    [
        None,
        layers.MultiHeadAttention(2, 4),
        layers.AdditiveAttention(U, dropout=0.1),
        layers.AdditiveAttention(U, mask=masks.Local(3)),
        layers.AdditiveAttention(U, activity_regularizer="l2"),
    ],
    ids=["none", "several_heads", "dropout", "mask", "activity_regularizer"],
)
def test_what_a_step_would_ignore_is_refused(attention):
    with pytest.raises(ValueError, match="`attention` must be a two-input layer"):
        layers.AttentionCell(keras.layers.GRUCell(U), attention)


def test_activity_regularizer_is_left_to_the_loop():
    parts = keras.layers.GRUCell(U), layers.AdditiveAttention(3)
    with pytest.raises(ValueError, match="`activity_regularizer` to the RNN layer"):
        layers.AttentionCell(*parts, activity_regularizer="l2")


def test_stacked_cells_are_refused():
    cells = keras.layers.StackedRNNCells([keras.layers.LSTMCell(U)] * 2)
    with pytest.raises(ValueError, match="`cell` must be one RNN cell"):
        layers.AttentionCell(cells, layers.AdditiveAttention(U))


def test_float_memory_mask_is_refused():
    with pytest.raises(ValueError, match="`memory_mask` must be bool or int"):
        cell_of().memory_state(tensor(B, S, M), np.ones((B, S), "float32"))
