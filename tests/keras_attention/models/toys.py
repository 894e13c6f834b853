"""What the tests of both seq2seq models share: sentences, and tasks with an answer."""

import keras
import numpy as np
from keras import ops

from keras_attention import losses
from keras_attention.decoding import AllowedTokens, BeamSearch, GreedySearch
from tests.backend import BACKEND, compiled, of_variables, to_numpy

PAD, START, END, VOCABULARY = 0, 1, 2, 13

SOURCE = np.array([[5, 3, 7, 4, 2], [6, 8, 2, 0, 0], [2, 0, 0, 0, 0]], "int32")
TARGET = np.array([[1, 4, 6, 8], [1, 5, 0, 0], [1, 3, 7, 0]], "int32")


def logits(model, source=SOURCE, target=TARGET):
    """Next-token logits `(B, T, V)`, all steps at once."""
    return to_numpy(model({"source": source, "target": target}))


def stepped_logits(model, source=SOURCE, target=TARGET):
    """The same step by step, from the state of a decoding."""
    state = model.initial_state(ops.convert_to_tensor(source), target.shape[1] + 2)
    steps = []
    for t in range(target.shape[1]):
        step, state = model.step(ops.convert_to_tensor(target[:, t]), state)
        steps.append(to_numpy(step))
    return np.stack(steps, axis=1)


def searches(max_length=6, **options):
    """Greedy and beam search, by name."""
    tokens = (max_length, START, END, PAD)
    beams = {"num_beams": 3, "length_penalty": 1.0, "num_return": 2}
    return {
        "greedy": GreedySearch(*tokens, **options),
        "beam": BeamSearch(*tokens, **beams, **options),
    }


def decode(model, search, source=SOURCE):
    """Tokens `(B, n, L)` and scores `(B, n)` that a compiled search finds."""

    def run(source):
        state = model.initial_state(source, search.max_length)
        found = search.search(model.step, state, ops.shape(source)[0])
        return found.tokens, found.scores

    return [to_numpy(x) for x in compiled(run)(ops.convert_to_tensor(source))]


def assert_decodes_a_row_alone_as_in_a_batch(find, source=SOURCE):
    """`find(source)` gives tokens `(B, n, L)` and scores `(B, n)`."""
    tokens, scores = find(source)
    for row, length in enumerate((source != PAD).sum(axis=1)):
        own_tokens, own_scores = find(source[row : row + 1, :length])
        np.testing.assert_array_equal(tokens[row], own_tokens[0])
        np.testing.assert_allclose(scores[row], own_scores[0], rtol=2e-6, atol=1e-5)


def sharpened(model):
    """The model with weights far enough from zero that its choices are no near ties."""
    model.set_weights(noisy(model.get_weights(), seed=1))
    return model


def noisy(weights, seed):
    """The weights with normally distributed numbers added, fixed by `seed`."""
    normal = np.random.default_rng(seed).normal
    return [w + (0.3 * normal(size=w.shape)).astype("float32") for w in weights]


def scored(model, search, source, **prompts):
    """What a search finds, and in `kept` the attention scores of its hypotheses."""
    batch_size, length = ops.shape(source)[0], search.max_length
    if prompts:
        batch_size, length = None, length + prompts["prompt"].shape[1] - 1
    state = model.initial_state(source, length, return_attention_scores=True)
    return search.search(
        model.step,
        state,
        batch_size,
        **prompts,
        keep=lambda state: state["attention_scores"],
    )


def _allowed(prefix):
    """No padding, which would be masked where all steps are computed at once.

    In every other row, and where the first token is odd, the third is the end: rows
    and beams wait for others.
    """
    row = ops.arange(ops.shape(prefix.tokens)[0], dtype="int32")[:, None]
    is_short = (row % 2 == 1) | (prefix.tokens[..., 0] % 2 == 1)
    ends = (prefix.lengths >= 2) & is_short
    token = np.arange(VOCABULARY)
    return ops.where(ends[..., None], token == END, token != PAD)


RULED = {"rules": [AllowedTokens(_allowed)]}


def assert_a_search_keeps_its_scores(model, kind):
    """They are those of reading the tokens returned, and looking changes nothing.

    Args:
        model: Of random weights; here it gets several others.
        kind: A key of `searches()`.
    """
    search = searches(**RULED)[kind]

    def run(source):
        state = model.initial_state(source, search.max_length)
        plain = search.search(model.step, state, ops.shape(source)[0])
        found = scored(model, search, source)
        start = ops.full_like(found.tokens[..., :1], START)
        read = ops.concatenate([start, found.tokens[..., :-1]], axis=-1)  # (B, n, L)
        taught = [
            model.cross_attention_scores(source, read[:, place])
            for place in range(search.num_return)
        ]
        return plain[:4], found, ops.stack(taught, axis=1)

    run, weights = of_variables(model, run)
    if BACKEND == "jax":  # elsewhere a few steps take less time than a compilation
        run = compiled(run)
    source = Sequences(7, seed=0, backwards=False).source
    moved, waited = 0, 0
    for seed in range(3):
        values = noisy(map(to_numpy, weights), seed)
        plain, found, taught = run(*map(ops.convert_to_tensor, (*values, source)))
        tokens, lengths = to_numpy(found.tokens), to_numpy(found.lengths)
        np.testing.assert_array_equal(tokens, to_numpy(plain[0]))
        np.testing.assert_allclose(
            to_numpy(found.scores), to_numpy(plain[3]), rtol=1e-6, atol=1e-6
        )
        steps = np.arange(search.max_length) < lengths[..., None]
        kept, taught = (
            np.moveaxis(to_numpy(scores), 3, 2)[steps]  # of (B, n, N, L, S)
            for scores in (found.kept, taught)
        )
        np.testing.assert_allclose(kept, taught, atol=1e-5)
        # Two that share their first token continue the same beam: one has moved.
        moved += np.sum(tokens[:, 0, 0] == tokens[:, -1, 0])
        waited += np.sum(lengths < lengths.max())
    assert moved, "or no beam was reordered"
    assert waited, "or no row waited for another"


def assert_scores_follow_prompts(model):
    """Step `t` is the one that reads token `t`, of the prompt or written."""
    search = searches(**RULED)["greedy"]
    prompt, lengths = np.array([[1, 4, 6], [1, 5, 8], [1, 3, 7]]), np.array([3, 1, 2])

    def run(source):
        return scored(model, search, source, prompt=prompt, prompt_lengths=lengths)

    found = compiled(run)(ops.convert_to_tensor(SOURCE))
    tokens, written, kept = (
        to_numpy(x)[:, 0] for x in (found.tokens, found.lengths, found.kept)
    )
    read = np.full((len(SOURCE), kept.shape[2]), PAD)
    for row, length in enumerate(lengths):
        whole = [*prompt[row, :length], *tokens[row, : written[row] - 1]]
        read[row, : len(whole)] = whole
    taught = compiled(model.cross_attention_scores)(
        *map(ops.convert_to_tensor, (SOURCE, read))
    )
    kept, taught = (
        np.moveaxis(scores, 2, 1)[read != PAD] for scores in (kept, to_numpy(taught))
    )
    np.testing.assert_allclose(kept, taught, atol=1e-5)


def assert_scores_of_sources_of_any_size(model):
    """In a TensorFlow function that knows neither their number nor their length."""
    import tensorflow as tf

    search = searches()["beam"]

    @tf.function(
        input_signature=[tf.TensorSpec((None, None), "int32")], autograph=False
    )
    def run(source):
        return scored(model, search, source)

    for source in (SOURCE, SOURCE[:2, :3]):
        found, expected = run(source), scored(model, search, tf.constant(source))
        np.testing.assert_array_equal(found.tokens, expected.tokens)
        np.testing.assert_allclose(found.kept, expected.kept, atol=1e-5)


def assert_scores_have_the_precision_of(model, may_leave=False):
    """`may_leave`: attention may move past the end, so that a row sums to less."""
    search = searches()["beam"]
    found = scored(model, search, ops.convert_to_tensor(SOURCE))
    precision = model.embedding.compute_dtype
    assert keras.backend.standardize_dtype(found.kept.dtype) == precision
    # bfloat16 has 8 bits of mantissa.
    sums = to_numpy(found.kept)[:, :, :, 0].sum(-1)
    if may_leave:
        assert ((sums > 0.1) & (sums < 1.02)).all()
    else:
        np.testing.assert_allclose(sums, 1.0, atol=2e-2)


class Sequences:
    """Random sequences of different lengths and what they become, padded.

    Args:
        count: How many.
        seed: Of the random numbers.
        backwards: Whether the answer is the reversed sequence, or a copy.
    """

    shortest, longest = 3, 7

    def __init__(self, count, seed, backwards):
        random = np.random.default_rng(seed)
        shape = (count, self.longest + 2)
        self.lengths = random.integers(self.shortest, self.longest + 1, count)
        self.source, self.target = np.zeros(shape, "int32"), np.zeros(shape, "int32")
        self.places = np.full(shape, -1)  # where each target step must look
        for row, length in enumerate(self.lengths):
            tokens = 3 + random.permutation(VOCABULARY - 3)[:length]
            places = np.arange(length)[::-1] if backwards else np.arange(length)
            self.source[row, : length + 1] = [*tokens, END]
            self.target[row, : length + 2] = [START, *tokens[places], END]
            self.places[row, :length] = places

    @property
    def inputs(self):
        return {"source": self.source, "target": self.target[:, :-1]}

    @property
    def labels(self):
        return self.target[:, 1:]


def train(model, backwards, steps=600, batch_size=64):
    """Teach `model` the task."""
    examples = Sequences(steps * batch_size, seed=0, backwards=backwards)
    schedule = keras.optimizers.schedules.CosineDecay(5e-3, steps)
    model.compile(
        keras.optimizers.Adam(schedule, clipnorm=1.0), losses.MaskedCrossentropy()
    )
    model.fit(
        examples.inputs,
        examples.labels,
        batch_size=batch_size,
        shuffle=False,
        verbose=0,
    )


def share_solved(model, search, test):
    """Share of whole sequences that are decoded right."""
    tokens = decode(model, search, test.source)[0][:, 0]
    width = test.labels.shape[1]
    return np.mean((tokens[:, :width] == test.labels).all(axis=1))


def shares_looked_right(model, test):
    """For every head: share of the steps whose largest weight is where it must be."""
    scores = to_numpy(model.cross_attention_scores(test.source, test.inputs["target"]))
    places = test.places[:, : scores.shape[2]]
    looked = scores.argmax(axis=-1)  # (B, N, T)
    counts = places >= 0
    hits = (looked == places[:, None]) & counts[:, None]
    return hits.sum(axis=(0, 2)) / counts.sum()
