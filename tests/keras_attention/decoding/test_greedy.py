"""Greedy search against a loop in NumPy."""

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import GreedySearch
from tests.keras_attention.decoding.toys import (
    END,
    PAD,
    START,
    Markov,
    Recurrent,
    arrays,
    decode,
    padded,
)

BATCH, VOCABULARY, LENGTH, SEEDS = 5, 7, 11, range(6)
MODELS = {
    "markov": [Markov(seed, BATCH, VOCABULARY) for seed in SEEDS],
    "recurrent": [Recurrent(seed, BATCH, VOCABULARY, LENGTH) for seed in SEEDS],
}


def by_hand(model, item):
    tokens, total = [], 0.0
    while len(tokens) < LENGTH and END not in tokens:
        following = model.reference(item, (START, *tokens))
        tokens.append(int(following.argmax()))
        total += following.max()
    return tokens, total


@pytest.mark.parametrize("kind", MODELS)
def test_equals_a_loop_by_hand(kind):
    models = MODELS[kind]
    results = decode(GreedySearch(LENGTH, START, END, PAD), models, batch_size=BATCH)
    lengths = set()
    for model, found in zip(models, results, strict=True):
        assert found.tokens.shape == (BATCH, 1, LENGTH)
        for item in range(BATCH):
            tokens, total = by_hand(model, item)
            lengths.add(len(tokens))
            assert found.tokens[item, 0].tolist() == padded(tokens, LENGTH)
            assert found.lengths[item, 0] == len(tokens)
            np.testing.assert_allclose(
                found.log_probabilities[item, 0], total, rtol=1e-5
            )
        np.testing.assert_array_equal(found.scores, found.log_probabilities)
    assert 1 in lengths or 2 in lengths
    assert LENGTH in lengths  # both early ends and cuts were among them


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_log_probabilities_are_float32_for_half_precision_logits(dtype):
    def step(tokens, state):
        logits = ops.tile(ops.arange(VOCABULARY, dtype="float32"), (BATCH, 1))
        return ops.cast(logits, dtype), state

    search = GreedySearch(200, START, END, PAD)
    found = arrays(search.search(step, (), batch_size=BATCH))
    one = 6 - np.log(np.exp(np.arange(VOCABULARY)).sum())
    assert found.log_probabilities.dtype == np.float32
    np.testing.assert_allclose(found.log_probabilities, 200 * one, rtol=1e-5)
