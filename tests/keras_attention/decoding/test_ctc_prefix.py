"""Prefix probabilities against the sum over all texts that begin so."""

import itertools
from functools import cache

import numpy as np
from keras import ops

from keras_attention.decoding import BeamSearch, CTCPrefixScores, Decodable
from tests.backend import compiled, to_numpy
from tests.keras_attention.ctc_reference import texts
from tests.keras_attention.decoding.toys import arrays

B, S, V = 3, 4, 5
BLANK, START, END = 0, 1, 2
LENGTHS = np.array([4, 3, 1])
MASK = np.arange(S) < LENGTHS[:, None]
CTC = CTCPrefixScores(START, END, BLANK)


def logits(padding=0.0):
    numbers = np.random.default_rng(0).normal(scale=1.5, size=(B, S, V))
    return np.where(MASK[..., None], numbers, padding).astype("float32")


@cache
def chances(item):
    """Probability of every text of an item."""
    return texts(logits()[item, : LENGTHS[item]], BLANK, (START, END))


def psi(item, prefix):
    """Probability of all texts that begin with `prefix`."""
    every = chances(item).items()
    return sum(chance for text, chance in every if text[: len(prefix)] == prefix)


def following(item, prefix):
    """Log-probabilities of the token that follows `prefix`, by brute force."""
    found = np.zeros(V)
    for token in (3, 4):
        found[token] = psi(item, (*prefix, token))
    found[END] = chances(item).get(prefix, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(found) - np.log(psi(item, prefix))


def steps(prefix, padding=np.nan):
    """Log-probabilities `(B, V)` after the start token and `prefix`."""

    def run(frames, mask):
        state = CTC.initial_state(frames, mask)
        for token in (START, *prefix):
            found, state = CTC.step(ops.full((B,), token, dtype="int32"), state)
        return found.values

    given = map(ops.convert_to_tensor, (logits(padding), MASK))
    return to_numpy(run(*given))


def test_is_decodable():
    assert isinstance(CTC, Decodable)


def test_next_tokens_are_those_of_all_texts_that_begin_so():
    """After every prefix that has a probability, whatever padding holds."""
    compared = 0
    for length in range(4):
        for prefix in itertools.product((3, 4), repeat=length):
            found = steps(prefix)
            assert (found[:, [BLANK, START]] == -np.inf).all()
            for item in range(B):
                if psi(item, prefix):
                    expected = following(item, prefix)
                    np.testing.assert_allclose(found[item], expected, atol=1e-4)
                    sums = np.exp(found[item]).sum()
                    np.testing.assert_allclose(sums, 1, atol=1e-5)
                    compared += 1
                else:
                    assert (found[item] == -np.inf).all()
    assert compared > 20


def test_a_search_finds_every_text_in_order():
    search = BeamSearch(S + 1, START, END, num_beams=61, num_return=61)

    def run(frames, mask):
        state = CTC.initial_state(frames, mask)
        return search.search(CTC.step, state, batch_size=B)

    given = map(ops.convert_to_tensor, (logits(), MASK))
    found = arrays(compiled(run)(*given))
    for item in range(B):
        expected = np.log(sorted(chances(item).values(), reverse=True))
        count = (found.lengths[item] > 0).sum()
        assert count == len(expected)
        scores = found.scores[item, :count]
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)
        best = max(chances(item), key=chances(item).get)
        length = found.lengths[item, 0]
        assert found.tokens[item, 0, :length].tolist() == [*best, END]
