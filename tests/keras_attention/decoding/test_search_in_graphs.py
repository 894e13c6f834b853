"""The loop inside TensorFlow's graphs: traced once, under XLA, in a SavedModel."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.backend import compiled, tensorflow_only, thorough_but
from tests.keras_attention.decoding.searches import (
    ALONE,
    BATCH,
    LENGTH,
    SEARCHES,
    VOCABULARY,
)
from tests.keras_attention.decoding.toys import (
    Recurrent,
    arrays,
    assert_same,
    seeded,
)

pytestmark = tensorflow_only

GREEDY, BEAM, SAMPLING = "greedy", "beam with rules", "sampling with rules"
every_search = pytest.mark.parametrize(
    "name", thorough_but([GREEDY, BEAM, SAMPLING], SEARCHES)
)
every_search_by_rows = pytest.mark.parametrize(
    "name", thorough_but([GREEDY, BEAM], ALONE)
)


@every_search
def test_traces_once_for_any_batch_prompt_and_seed(name):
    import tensorflow as tf

    search, traces = SEARCHES[name], []
    model = Recurrent(3, BATCH, VOCABULARY, LENGTH + 4)  # for prompts of 5

    def counted(tokens, state):
        traces.append(tokens)
        return model.step(tokens, state)

    def run(prompt, lengths, memory, seed, step=model.step):
        return search.search(
            step,
            model.initial_state(memory),
            prompt=prompt,
            prompt_lengths=lengths,
            **seeded(search, seed),
        )

    graph = tf.function(
        lambda *arguments: run(*arguments, step=counted),
        input_signature=[
            tf.TensorSpec((None, None), tf.int32),
            tf.TensorSpec((None,), tf.int32),
            tf.TensorSpec((None, model.memory.shape[1])),
            tf.TensorSpec((), tf.int32),
        ],
    )
    random = np.random.default_rng(0)
    for seed, (rows, width) in enumerate([(1, 1), (4, 1), (2, 5), (5, 3)]):
        arguments = (
            tf.constant(random.integers(3, VOCABULARY, (rows, width)), tf.int32),
            tf.constant(random.integers(1, width + 1, rows), tf.int32),
            model.memory[:rows],
            tf.constant(seed),
        )
        found = arrays(graph(*arguments))
        assert found.tokens.shape == (rows, search.num_return, LENGTH)
    assert_same(found, arrays(run(*arguments)))
    assert len(traces) == 2  # the prompt's loop and the search's


@pytest.mark.slow
@every_search_by_rows
def test_compiles_with_xla(name):
    """Draws are in `test_sampling`: XLA has its own."""
    search = ALONE[name]
    model = Recurrent(1, BATCH, VOCABULARY, LENGTH)

    def run():
        arguments = {"batch_size": BATCH, **seeded(search)}
        return search.search(model.step, model.initial_state(), **arguments)

    assert_same(arrays(compiled(run, jit=True)()), arrays(run()))


@pytest.mark.slow
@every_search
def test_exports_inside_a_saved_model(name, tmp_path):
    """A recurrent Keras model, its search in the signature, any batch size."""
    import tensorflow as tf

    search = SEARCHES[name]
    keras.utils.set_random_seed(1)
    tokens, before = keras.Input((), dtype="int32"), keras.Input((8,))
    embedded = keras.layers.Embedding(VOCABULARY, 4)(tokens)
    _, after = keras.layers.GRUCell(8)(embedded, [before])
    logits = keras.layers.Dense(VOCABULARY, kernel_initializer="normal")(after[0])
    model = keras.Model([tokens, before], [logits, after[0]])

    def serve(source, seed):
        found = search.search(
            lambda last, state: tuple(model([last, state])),
            source,
            batch_size=ops.shape(source)[0],
            **seeded(search, seed),
        )
        return {name: x for name, x in found._asdict().items() if x is not None}

    archive = keras.export.ExportArchive()
    archive.track(model)
    signature = [
        tf.TensorSpec((None, 8), name="source"),
        tf.TensorSpec((), tf.int32, name="seed"),
    ]
    archive.add_endpoint("serve", serve, input_signature=signature)
    archive.write_out(tmp_path / "model", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "model")
    for batch_size in (1, 4):
        source = tf.random.stateless_normal((batch_size, 8), seed=(1, 2))
        arguments = (source, tf.constant(batch_size))
        expected, found = serve(*arguments), loaded.serve(*arguments)
        assert set(found) == {"tokens", "lengths", "log_probabilities", "scores"}
        np.testing.assert_array_equal(found["tokens"], expected["tokens"])
        np.testing.assert_allclose(found["scores"], expected["scores"], rtol=1e-5)
