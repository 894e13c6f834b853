"""Toy models small enough to search through exhaustively, and the search that does."""

import copy
import itertools
from math import inf

import keras
import numpy as np
from keras import ops

from keras_attention.decoding import SamplingSearch
from tests.backend import compiled, to_numpy

PAD, START, END = 0, 1, 2


def decode(search, models, **arguments):
    """What `search` finds for models of one kind and size, compiled once."""
    kind, arguments = models[0], {**seeded(search), **arguments}

    def run(weights, state):
        def step(tokens, state):
            return kind.step(tokens, state, weights)

        return search.search(step, state, **arguments)

    run = compiled(run)
    return [arrays(run(model.weights, model.initial_state())) for model in models]


def seeded(search, seed=0):
    """The seed as an argument, where a search takes one."""
    return {"seed": seed} if isinstance(search, SamplingSearch) else {}


def arrays(decoded):
    """A `Decoded` of NumPy arrays."""
    return keras.tree.map_structure(
        lambda field: None if field is None else to_numpy(field), decoded
    )


def item_of(decoded, item):
    """What was found for one item, as a batch of one; nothing that was kept."""
    return type(decoded)(*(field[[item]] for field in decoded[:-1]))


def assert_same(one, other):
    """The same tokens; their log-probabilities up to the order of a sum in float32."""
    np.testing.assert_array_equal(one.tokens, other.tokens)
    np.testing.assert_array_equal(one.lengths, other.lengths)
    for field in ("log_probabilities", "scores"):
        np.testing.assert_allclose(
            getattr(one, field), getattr(other, field), rtol=1e-5, atol=1e-6
        )


def log_softmax(logits):
    logits = np.asarray(logits, "float64")
    largest = logits.max(-1, keepdims=True)
    return logits - largest - np.log(np.exp(logits - largest).sum(-1, keepdims=True))


def chain(table):
    """A `Markov` of one item with these probabilities, {token: {next: probability}}.

    After a token that is not there everything is as likely.
    """
    size = 1 + max(max(row, default=0) for row in table.values())
    probabilities = np.full((1, size, size), 1 / size)
    for token, row in table.items():
        probabilities[0, token] = [row.get(following, 0) for following in range(size)]
    model = Markov(0, 1, size)
    with np.errstate(divide="ignore"):
        model.table = np.log(probabilities).astype("float32")
    return model


class Markov:
    """The next token depends on the last one alone; each item has its own chain."""

    weights = ()

    def __init__(self, seed, batch_size, vocabulary_size, scale=2.0):
        random = np.random.default_rng(seed)
        shape = (batch_size, vocabulary_size, vocabulary_size)
        self.table = random.normal(scale=scale, size=shape).astype("float32")

    def initial_state(self):
        return {"table": ops.convert_to_tensor(self.table)}

    def step(self, tokens, state, weights=()):
        rows = ops.take_along_axis(state["table"], tokens[:, None, None], axis=1)
        return rows[:, 0], state

    def reference(self, item, prefix):
        """Log-probabilities of the token that follows `prefix`, in float64."""
        return log_softmax(self.table[item, prefix[-1]])


class Recurrent:
    """The next token depends on all tokens so far and on a fixed memory.

    Its state has every kind of leaf: a recurrent vector, a cache written at a
    position, the position, a memory that never changes and one that is not there.
    """

    def __init__(self, seed, batch_size, vocabulary_size, max_length, units=3):
        random = np.random.default_rng(seed)
        self.max_length = max_length
        sizes = {
            "memory": (batch_size, units),
            "embedding": (vocabulary_size, units),
            "kernel": (units, units),
            "output": (units, vocabulary_size),
        }
        weights = {
            name: random.normal(scale=1.5, size=size).astype("float32")
            for name, size in sizes.items()
        }
        self.memory = weights.pop("memory")
        self.weights = weights

    def only(self, item):
        """The same model for one item of the batch."""
        single = copy.copy(self)
        single.memory = self.memory[item : item + 1]
        return single

    def initial_state(self, memory=None):
        memory = ops.convert_to_tensor(self.memory if memory is None else memory)
        batch_size, units = ops.shape(memory)
        return {
            "hidden": ops.zeros((batch_size, units)),
            "cache": ops.zeros((batch_size, self.max_length, units)),
            "position": 0,
            "memory": (memory, None),
        }

    def step(self, tokens, state, weights=None):
        weights = weights or self.weights
        embedding, kernel, output = (
            ops.convert_to_tensor(weights[name])
            for name in ("embedding", "kernel", "output")
        )
        position, (memory, _) = state["position"], state["memory"]
        hidden = ops.take(embedding, tokens, axis=0) + ops.matmul(
            state["hidden"], kernel
        )
        hidden = ops.tanh(hidden)
        here = (ops.arange(self.max_length) == position)[:, None]
        cache = ops.where(here, hidden[:, None], state["cache"])
        logits = ops.matmul(ops.sum(cache, axis=1) + memory, output)
        after = {
            "hidden": hidden,
            "cache": cache,
            "position": position + 1,
            "memory": state["memory"],
        }
        return logits, after

    def reference(self, item, prefix):
        """Log-probabilities of the token that follows `prefix`, in float64."""
        embedding, kernel, output = self.weights.values()
        hidden, total = np.zeros(embedding.shape[1]), self.memory[item].astype(float)
        for token in prefix:
            hidden = np.tanh(embedding[token] + hidden @ kernel)
            total = total + hidden
        return log_softmax(total @ output)


def exhaustive(next_log_probabilities, vocabulary_size, max_length, penalty):
    """All hypotheses as (score, tokens, log-probability), the best first.

    A hypothesis ends with the end token or is cut off at `max_length`. One without a
    probability is left out.
    """
    found = []
    running = [((), 0.0)]
    while running:
        tokens, total = running.pop()
        following = next_log_probabilities((START, *tokens))
        for token in range(vocabulary_size):
            longer, sum_ = (*tokens, token), total + following[token]
            if sum_ == -inf:
                continue
            if token == END or len(longer) == max_length:
                found.append((sum_ / penalty(len(longer)), longer, sum_))
            else:
                running.append((longer, sum_))
    return sorted(found, reverse=True)


def count_sequences(vocabulary_size, max_length):
    """How many hypotheses `exhaustive` returns."""
    others = [(vocabulary_size - 1) ** length for length in range(max_length)]
    return sum(others) + others[-1] * (vocabulary_size - 1)


def padded(tokens, length):
    """`tokens` followed by padding."""
    return list(
        itertools.islice(itertools.chain(tokens, itertools.repeat(PAD)), length)
    )
