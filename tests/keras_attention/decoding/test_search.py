"""What every search keeps: rows alone, prompts, padding, one compiled loop."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import BeamSearch, Decodable, GreedySearch
from tests.keras_attention.decoding.toys import (
    END,
    PAD,
    START,
    Recurrent,
    arrays,
    chain,
    decode,
)

BATCH, VOCABULARY, LENGTH = 5, 7, 11
every_search = pytest.mark.parametrize(
    "search",
    [
        GreedySearch(LENGTH, START, END, PAD),
        BeamSearch(LENGTH, START, END, PAD, num_beams=3, num_return=2),
        BeamSearch(LENGTH, START, END, PAD, num_beams=3, length_penalty=1.0),
    ],
    ids=["greedy", "beam", "penalty"],
)
on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="TensorFlow's graphs"
)


def c35():
    """Case C35: after the end token the chain would go on with 3, which shows."""
    return chain(
        {
            START: {3: 0.6, 4: 0.3, END: 0.1},
            3: {END: 0.55, 4: 0.45},
            4: {END: 1.0},
            END: {3: 1.0},
        }
    )


C35_SEARCHES = [
    GreedySearch(6, START, END, PAD),
    BeamSearch(6, START, END, PAD, num_beams=1),
    BeamSearch(6, START, END, PAD, num_beams=3),
]


@pytest.mark.parametrize("search", C35_SEARCHES, ids=["greedy", "beam 1", "beam 3"])
def test_c35_greedy_and_beams_of_any_width_agree(search):
    (found,) = decode(search, [c35()], prompt=np.array([[START]]))
    assert found.tokens.tolist() == [[[3, END, PAD, PAD, PAD, PAD]]]
    assert found.lengths.tolist() == [[2]]
    np.testing.assert_allclose(found.log_probabilities, [[-1.108663]], atol=1e-6)


@pytest.mark.parametrize("search", C35_SEARCHES, ids=["greedy", "beam 1", "beam 3"])
def test_c35_a_finished_row_is_padded_while_another_runs(search):
    model = c35()
    model.table = np.repeat(model.table, 2, axis=0)
    (found,) = decode(search, [model], prompt=np.array([[START, 4], [4, START]]))
    assert found.tokens[:, 0, :3].tolist() == [[END, PAD, PAD], [3, END, PAD]]
    assert (found.tokens[:, 0, 3:] == PAD).all()
    assert found.lengths.tolist() == [[1], [2]]


@every_search
def test_a_row_decodes_alone_as_in_a_batch(search):
    for seed in range(2):
        model = Recurrent(seed, BATCH, VOCABULARY, LENGTH)
        (together,) = decode(search, [model], batch_size=BATCH)
        assert len(set(together.lengths[:, 0])) > 1
        singles = [model.only(item) for item in range(BATCH)]
        for item, alone in enumerate(decode(search, singles, batch_size=1)):
            for one, all_ in zip(alone, together, strict=True):
                np.testing.assert_allclose(one[0], all_[item], rtol=1e-5, atol=1e-6)


@every_search
def test_only_padding_after_the_end(search):
    models = [Recurrent(seed, BATCH, VOCABULARY, LENGTH) for seed in range(4)]
    for found in decode(search, models, batch_size=BATCH):
        after = np.arange(LENGTH) >= found.lengths[..., None]
        assert (found.tokens[after] == PAD).all()
        last = np.take_along_axis(found.tokens, found.lengths[..., None] - 1, axis=2)
        assert ((last[..., 0] == END) | (found.lengths == LENGTH)).all()


@every_search
def test_a_prompt_is_read_first_and_is_no_part_of_the_result(search):
    """What follows a prompt is what `reference` gives after the same tokens."""
    model = Recurrent(3, BATCH, VOCABULARY, LENGTH + 3)
    prompt = np.array([[START, 3, item + 2, 4] for item in range(BATCH)])
    (found,) = decode(search, [model], prompt=prompt)
    for item in range(BATCH):
        prefix, total = tuple(prompt[item].tolist()), 0.0
        for token in found.tokens[item, 0, : found.lengths[item, 0]].tolist():
            total += model.reference(item, prefix)[token]
            prefix = (*prefix, token)
        np.testing.assert_allclose(
            found.log_probabilities[item, 0], total, rtol=1e-4, atol=1e-4
        )


@every_search
def test_stops_with_the_longest_row(search):
    """From its fourth token on the model says NaN, which would show."""

    def step(tokens, position):
        token = ops.where(position < 2, 3, END)
        certain = ops.one_hot(ops.zeros_like(tokens) + token, VOCABULARY)
        logits = ops.where(position < 3, ops.log(certain), float("nan"))
        return logits, position + 1

    found = arrays(search.search(step, 0, batch_size=2))
    assert (found.lengths[:, 0] == 3).all()
    assert np.isfinite(found.log_probabilities[:, 0]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Exactly one of `batch_size` and `prompt`"),
        ({"batch_size": 1, "prompt": [[1]]}, "Exactly one of"),
        ({"prompt": [1, 2]}, r"`prompt` must have the shape \(batch, tokens\)"),
        ({"prompt": np.zeros((2, 0))}, "at least one token"),
    ],
)
def test_refuses_a_wrong_start(arguments, message):
    with pytest.raises(ValueError, match=message):
        GreedySearch(3, START, END).search(c35().step, {}, **arguments)


def test_refuses_wrong_tokens_and_lengths():
    with pytest.raises(ValueError, match="`max_length` must be a positive integer"):
        GreedySearch(0, START, END)
    with pytest.raises(ValueError, match="must not be negative"):
        GreedySearch(3, START, -1)


@on_tensorflow
@every_search
def test_traces_once_for_any_batch_and_prompt(search):
    import tensorflow as tf

    traces = []
    model = c35()

    def step(tokens, state):
        traces.append(tokens)
        return model.step(tokens, state)

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None), tf.int32),
            tf.TensorSpec((None, *model.table.shape[1:])),
        ]
    )
    def run(prompt, table):
        return search.search(step, {"table": table}, prompt=prompt)

    run(tf.fill((1, 1), START), model.table)
    first = len(traces)
    for batch_size, length in ((4, 1), (2, 5), (1, 1), (7, 3)):
        found = run(tf.fill((batch_size, length), START), [model.table[0]] * batch_size)
        assert found.tokens.shape == (batch_size, search.num_return, LENGTH)
        assert (found.tokens[:, 0, :2].numpy() == [3, END]).all()
    assert len(traces) == first == 2  # the prompt's loop and the search's


@on_tensorflow
@pytest.mark.slow
@every_search
def test_compiles_with_xla(search):
    import tensorflow as tf

    model = Recurrent(1, BATCH, VOCABULARY, LENGTH)

    def run():
        return search.search(model.step, model.initial_state(), batch_size=BATCH)

    plain, xla = arrays(run()), arrays(tf.function(run, jit_compile=True)())
    np.testing.assert_array_equal(xla.tokens, plain.tokens)
    np.testing.assert_allclose(xla.scores, plain.scores, rtol=1e-5)


@on_tensorflow
@pytest.mark.slow
@every_search
def test_exports_inside_a_saved_model(search, tmp_path):
    """A recurrent Keras model, its search in the signature, any batch size."""
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    tokens, before = keras.Input((), dtype="int32"), keras.Input((8,))
    embedded = keras.layers.Embedding(VOCABULARY, 4)(tokens)
    _, after = keras.layers.GRUCell(8)(embedded, [before])
    logits = keras.layers.Dense(VOCABULARY, kernel_initializer="normal")(after[0])
    model = keras.Model([tokens, before], [logits, after[0]])

    def serve(source):
        found = search.search(
            lambda last, state: tuple(model([last, state])),
            source,
            batch_size=ops.shape(source)[0],
        )
        return found._asdict()

    archive = keras.export.ExportArchive()
    archive.track(model)
    signature = [tf.TensorSpec((None, 8), name="source")]
    archive.add_endpoint("serve", serve, input_signature=signature)
    archive.write_out(tmp_path / "model", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "model")
    for batch_size in (1, 4):
        source = tf.random.stateless_normal((batch_size, 8), seed=(1, 2))
        expected, found = serve(source), loaded.serve(source)
        assert set(found) == {"tokens", "lengths", "log_probabilities", "scores"}
        np.testing.assert_array_equal(found["tokens"], expected["tokens"])
        np.testing.assert_allclose(found["scores"], expected["scores"], rtol=1e-5)


def test_the_protocol_is_recognised():
    assert isinstance(c35(), Decodable)
    assert not isinstance(object(), Decodable)
