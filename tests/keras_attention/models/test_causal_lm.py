import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import costs, interpretation, layers, losses, masks, models
from keras_attention.decoding import (
    BeamSearch,
    Decodable,
    GreedySearch,
    NoRepeatNGrams,
    SamplingSearch,
)
from tests.backend import BACKEND, compiled, mask_of, tensorflow_only, to_numpy
from tests.keras_attention.models import toys

B, T, V, D, N, F = 3, 7, 13, 16, 2, 20
END, LENGTH = 2, 5
LENGTHS = np.array([4, 7, 1], "int32")
TOKENS = np.random.default_rng(0).integers(3, V, (B, T)).astype("int32")
PROMPT = np.where(np.arange(T) < LENGTHS[:, None], TOKENS, 0)

KINDS = {
    "learned": {},
    "sinusoidal": {"positions": "sinusoidal", "normalize_first": False},
    "rotary": {"positions": "rotary", "attention_options": {"num_key_value_heads": 1}},
    "alibi": {"positions": "alibi"},
    "relative": {"positions": "relative"},
    "local": {"attention_options": {"mask": masks.Local(3)}},
    "window": {"attention_options": {"sliding_window": 2, "attention_sinks": True}},
    "strided": {
        "positions": "rotary",
        "attention_options": {"mask": masks.Local(2) | masks.Strided(3)},
    },
    "talking_heads": {"attention": "talking_heads"},
    "relative_position": {"attention": "relative_position", "positions": "none"},
    "block_summary": {
        "attention": "block_summary",
        "attention_options": {"block_size": 3},
    },
    "linear": {"attention": "linear", "positions": "none"},
    "performer": {
        "attention": "performer",
        "attention_options": {"num_features": 11, "seed": 1},
    },
}
READS_AGAIN = {"block_summary"}


def make(**options):
    sizes = {"num_layers": 2, "num_heads": N, "hidden_dim": D, "intermediate_dim": F}
    longest = T + LENGTH
    return models.CausalLM(V, **{**sizes, "max_sequence_length": longest, **options})


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    """The name of a kind, and a model of weights far from zero."""
    return request.param, toys.sharpened(make(**KINDS[request.param]))


def test_static_shapes():
    model = make(num_layers=1)
    assert model.input_shape == (None, None)
    assert model.output_shape == (None, None, V)
    assert isinstance(model, Decodable)


def test_every_causal_layer_of_the_registry_is_tried():
    tried = {options.get("attention", "multi_head") for options in KINDS.values()}
    assert tried == set(layers.causal_multi_head())


def test_steps_are_as_the_whole(kind):
    """The first tokens of a prompt at once, the others one by one."""
    name, model = kind
    expected = to_numpy(model(TOKENS))
    position = 3
    state = model.initial_state(ops.convert_to_tensor(TOKENS), LENGTH, position)
    assert ("tokens" in state) == (name in READS_AGAIN)
    step = compiled(model.step) if BACKEND == "jax" else model.step
    for t in range(position, T):
        found, state = step(ops.convert_to_tensor(TOKENS[:, t]), state)
        assert int(state["position"]) == t + 1
        # Sharpened weights give logits of size 10.
        np.testing.assert_allclose(to_numpy(found), expected[:, t], atol=3e-4)


def test_the_future_changes_nothing_before(kind):
    _, model = kind
    changed = np.concatenate([TOKENS[:, :-1], 3 + TOKENS[:, -1:] % 9], axis=1)
    before, after = to_numpy(model(TOKENS)), to_numpy(model(changed))
    # Kernels that loop over tiles may add in another order.
    np.testing.assert_allclose(after[:, :-1], before[:, :-1], atol=1e-4)
    assert (np.abs(after - before)[:, -1].max(axis=-1) > 1e-2).all()


def test_padding_changes_nothing(kind):
    _, model = kind
    together = model(PROMPT)
    np.testing.assert_array_equal(mask_of(together), PROMPT != 0)
    for row, length in enumerate(LENGTHS):
        alone = to_numpy(model(PROMPT[row : row + 1, :length]))[0]
        found = to_numpy(together)[row, :length]
        np.testing.assert_allclose(found, alone, atol=3e-4)


# ------------------------------------------------------------------------ decoding


def searches(**options):
    tokens = (LENGTH, 1, END, 0)
    return {
        "greedy": GreedySearch(*tokens, **options),
        "beam": BeamSearch(*tokens, num_beams=3, num_return=2, **options),
        "sampling": SamplingSearch(*tokens, top_k=1, num_return=2, **options),
    }


def decode(model, search, prompt, lengths=None, **arguments):
    """Tokens `(B, n, L)` and scores `(B, n)`."""

    def run(prompt):
        first = None if lengths is None else int(lengths.min()) - 1
        state = model.initial_state(prompt, search.max_length, first)
        found = search.search(
            model.step,
            state,
            prompt=prompt,
            prompt_lengths=lengths,
            prompt_read=state["position"],
            **arguments,
        )
        return found.tokens, found.scores

    run = compiled(run) if BACKEND == "jax" else run
    return [to_numpy(x) for x in run(ops.convert_to_tensor(prompt))]


@pytest.mark.parametrize(
    ("name", "search"),
    [("learned", "greedy"), ("linear", "beam"), ("block_summary", "beam")],
)
def test_prompts_of_several_lengths_are_decoded_as_alone(name, search):
    model = toys.sharpened(make(**KINDS[name]))
    search = searches(rules=[NoRepeatNGrams(1)])[search]
    tokens, scores = decode(model, search, PROMPT, LENGTHS)
    assert len(np.unique(tokens)) > 3
    for row, length in enumerate(LENGTHS):
        own_tokens, own_scores = decode(model, search, PROMPT[row : row + 1, :length])
        np.testing.assert_array_equal(tokens[row], own_tokens[0])
        np.testing.assert_allclose(scores[row], own_scores[0], atol=1e-4)


def test_greedy_takes_the_most_probable_of_reading_all():
    model = toys.sharpened(make())
    tokens = decode(model, searches()["greedy"], TOKENS)[0][:, 0]
    text = TOKENS
    for t in range(LENGTH):
        best = to_numpy(model(text))[:, -1].argmax(-1)
        running = (tokens[:, :t] != END).all(axis=1)
        np.testing.assert_array_equal(tokens[running, t], best[running])
        text = np.concatenate([text, np.maximum(tokens[:, t : t + 1], 1)], axis=1)
    sampled = decode(model, searches()["sampling"], TOKENS, seed=3)[0]
    np.testing.assert_array_equal(sampled, np.repeat(tokens[:, None], 2, axis=1))


@tensorflow_only
@pytest.mark.parametrize("name", ["relative", "linear", "block_summary"])
def test_one_function_for_prompts_of_all_sizes(name):
    import tensorflow as tf

    model = toys.sharpened(make(num_layers=1, **KINDS[name]))
    search, traces = searches()["greedy"], []

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None), "int32"),
            tf.TensorSpec((None,), "int32"),
        ],
        autograph=False,
    )
    def run(prompt, lengths):
        traces.append(prompt)
        first = tf.reduce_min(lengths) - 1
        state = model.initial_state(prompt, search.max_length, first)
        return search.search(
            model.step, state, prompt=prompt, prompt_lengths=lengths, prompt_read=first
        ).tokens

    short = np.minimum(LENGTHS[:2], 3)
    for prompt, lengths in [(PROMPT, LENGTHS), (PROMPT[:2, :3], short)]:
        expected = decode(model, search, prompt, lengths)[0]
        np.testing.assert_array_equal(run(prompt, lengths), expected)
    assert len(traces) == 1


@tensorflow_only
@pytest.mark.slow
@pytest.mark.parametrize("name", ["learned", "linear"])
def test_xla(name):
    model = toys.sharpened(make(num_layers=1, **KINDS[name]))
    search = searches()["beam"]

    def run(prompt):
        state = model.initial_state(prompt, search.max_length)
        read = state["position"]
        return search.search(model.step, state, prompt=prompt, prompt_read=read).tokens

    found = compiled(run, jit=True)(ops.convert_to_tensor(TOKENS))
    np.testing.assert_array_equal(found, decode(model, search, TOKENS)[0])


def test_decoding_longer_than_the_learned_positions():
    model = make(num_layers=1)
    with pytest.raises(ValueError, match="Learned positions end"):
        model.initial_state(ops.convert_to_tensor(TOKENS), LENGTH + 1)


@tensorflow_only
def test_decoding_longer_than_the_learned_positions_in_a_graph():
    import tensorflow as tf

    model = make(num_layers=1)

    @tf.function(
        input_signature=[tf.TensorSpec((None, None), "int32")], autograph=False
    )
    def start(prompt):
        return model.initial_state(prompt, LENGTH)["caches"]

    assert start(TOKENS)[0][0].shape == (B, N, T + LENGTH, D // N)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Learned positions end"):
        start(np.pad(TOKENS, [[0, 0], [0, 1]]))


@pytest.mark.parametrize("name", ["learned", "linear"])
def test_in_half_precision_steps_are_as_the_whole(name):
    model = make(dtype="mixed_bfloat16", **KINDS[name])
    expected = to_numpy(model(TOKENS))
    state = model.initial_state(ops.convert_to_tensor(TOKENS), LENGTH, 0)
    kept = "float32" if name == "linear" else "bfloat16"  # sums lose nothing
    for t in range(T):
        found, state = model.step(ops.convert_to_tensor(TOKENS[:, t]), state)
        # bfloat16 has 8 bits of mantissa; logits are of size 4.
        np.testing.assert_allclose(to_numpy(found), expected[:, t], atol=0.1)
        assert kept in str(state["caches"][0][0].dtype)


# ------------------------------------------------------------- looked at, and costs


def test_capture():
    record = interpretation.capture(toys.sharpened(make()), TOKENS)
    assert record.names == [f"block_{i}/self_attention" for i in range(2)]
    scores = record.numpy("block_1/self_attention")
    assert scores.shape == (B, N, T, T)
    np.testing.assert_allclose(scores.sum(-1), 1, atol=1e-5)
    assert (scores[..., ~np.tri(T, dtype=bool)] == 0).all()


def test_costs():
    model = make(num_layers=1)
    report = costs.report(model, batch=B, length=T)
    attention, dense, norms = 4 * (D * D + D), 2 * D * F + F + D, 3 * 2 * D
    tables = V * D + (T + LENGTH) * D
    assert report.total.parameters == tables + attention + dense + norms
    rows = B * T
    products = rows * (4 * D * D + 2 * T * D + 2 * D * F + D * V)
    assert report.total.multiply_adds == products


@tensorflow_only
def test_a_prompt_is_read_without_logits():
    import tensorflow as tf

    model = make(num_layers=1)

    def widest(function):
        graph = tf.function(function, autograph=False).get_concrete_function(
            tf.TensorSpec((None, None), "int32")
        )
        tensors = [x for op in graph.graph.get_operations() for x in op.outputs]
        return [x for x in tensors if x.shape.rank and x.shape[-1] == V]

    assert widest(model)  # the other one sees what there is to see
    assert not widest(lambda prompt: model.initial_state(prompt, LENGTH)["caches"])


# --------------------------------------------------------------------------- a task


class Twice:
    """Random words said twice: the second half has an answer, and a place to look."""

    def __init__(self, count, seed, length=6):
        words = np.random.default_rng(seed).integers(3, V, (count, length))
        start, middle = np.full((count, 1), 1), np.full((count, 1), END)
        self.tokens = np.concatenate([start, words, middle, words], axis=1)
        self.words, self.length = words, length
        self.labels = np.where(
            np.arange(2 * length + 1) > length, self.tokens[:, 1:], 0
        )


@tensorflow_only
@pytest.mark.slow
def test_learns_to_repeat_and_looks_at_what_it_repeats():
    sizes = {"num_layers": 1, "hidden_dim": 32, "intermediate_dim": 64}
    model = make(**sizes, max_sequence_length=20)
    steps, batch = 300, 64
    examples, test = Twice(steps * batch, seed=0), Twice(100, seed=1)
    schedule = keras.optimizers.schedules.CosineDecay(5e-3, steps)
    adam = keras.optimizers.Adam(schedule, clipnorm=1.0)
    model.compile(adam, losses.MaskedCrossentropy())
    labels = examples.labels
    model.fit(examples.tokens[:, :-1], labels, batch, shuffle=False, verbose=0)
    prompt = test.tokens[:, : test.length + 2].astype("int32")
    search = GreedySearch(test.length, 1, 0)
    written = decode(model, search, prompt)[0][:, 0]
    assert (written == test.words).all(axis=1).mean() > 0.95
    record = interpretation.capture(model, test.tokens[:, :-1])
    looked = record.numpy("self_attention").argmax(-1)[..., test.length + 1 :]
    places = np.arange(1, test.length + 1)
    shares = (looked == places).mean(axis=(0, 2))
    print(f"looked at the word to repeat: {shares} by head")
    assert shares.max() > 0.8
