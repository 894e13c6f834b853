"""What the tests of both seq2seq models share: sentences, and tasks with an answer."""

import keras
import numpy as np
from keras import ops

from keras_attention import losses
from keras_attention.decoding import BeamSearch, GreedySearch
from tests.backend import compiled, to_numpy

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


def searches(max_length=6):
    """Greedy and beam search, by name."""
    tokens = (max_length, START, END, PAD)
    return {
        "greedy": GreedySearch(*tokens),
        "beam": BeamSearch(*tokens, num_beams=3, length_penalty=1.0, num_return=2),
    }


def decode(model, search, source=SOURCE):
    """Tokens `(B, n, L)` and scores `(B, n)` that a compiled search finds."""

    def run(source):
        state = model.initial_state(source, search.max_length)
        found = search.search(model.step, state, ops.shape(source)[0])
        return found.tokens, found.scores

    return [to_numpy(x) for x in compiled(run)(ops.convert_to_tensor(source))]


def assert_decodes_a_row_alone_as_in_a_batch(model, search):
    together = decode(model, search)
    for row, length in enumerate((SOURCE != PAD).sum(axis=1)):
        alone = decode(model, search, SOURCE[row : row + 1, :length])
        np.testing.assert_array_equal(together[0][row], alone[0][0])
        np.testing.assert_allclose(together[1][row], alone[1][0], atol=1e-5)


def sharpened(model):
    """The model with weights far enough from zero that its choices are no near ties."""
    generator = np.random.default_rng(1)
    model.set_weights(
        [w + 0.3 * generator.normal(size=w.shape) for w in model.get_weights()]
    )
    return model


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
