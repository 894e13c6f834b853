"""CTC's posterior against the sum over all alignments."""

import itertools

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import ctc_alignment


def said(path, blank):
    """The text of an alignment, and which of its tokens each place says."""
    text, tokens = [], []
    for place, token in enumerate(path):
        if token == blank:
            tokens.append(None)
            continue
        if place == 0 or path[place - 1] != token:
            text.append(token)
        tokens.append(len(text) - 1)
    return text, tokens


def by_hand(scores, labels, blank):
    chances = np.exp(scores)
    chances = chances / chances.sum(axis=1, keepdims=True)
    found, total = np.zeros((len(labels), len(scores))), 0.0
    for path in itertools.product(range(scores.shape[1]), repeat=len(scores)):
        text, tokens = said(path, blank)
        if text == list(labels):
            chance = np.prod(chances[range(len(path)), path])
            total += chance
            for place, token in enumerate(tokens):
                if token is not None:
                    found[token, place] += chance
    return found / total


@pytest.mark.parametrize(
    ("labels", "blank"),
    [([1, 2], 0), ([1, 1], 0), ([2, 1, 2], 0), ([0, 0], 2), ([1, 0, 0], 2), ([1], 0)],
)
def test_it_is_the_sum_over_all_alignments(labels, blank):
    scores = np.random.default_rng(len(labels)).normal(size=(5, 3))
    found = ctc_alignment(ops.convert_to_tensor(scores), labels, blank)
    np.testing.assert_allclose(found, by_hand(scores, labels, blank), atol=1e-6)
    assert (found.sum(axis=1) >= 1 - 1e-6).all()
    assert (found.sum(axis=0) <= 1 + 1e-6).all()


def test_a_text_that_just_fits_has_no_choice():
    scores = np.random.default_rng(0).normal(size=(3, 4))
    found = ctc_alignment(scores, [1, 1])
    np.testing.assert_allclose(found, [[1, 0, 0], [0, 0, 1]], atol=1e-12)


def test_what_is_impossible_is_never_said():
    scores = np.full((4, 3), -np.inf)
    scores[[0, 1, 2, 3], [0, 1, 2, 0]] = 0.0
    found = ctc_alignment(scores, [1, 2])
    np.testing.assert_array_equal(found, [[0, 1, 0, 0], [0, 0, 1, 0]])


def test_long_clips_do_not_underflow():
    scores = np.random.default_rng(0).normal(size=(600, 20))
    found = ctc_alignment(scores, np.arange(1, 20).tolist() * 10)
    assert np.isfinite(found).all()
    assert (found.sum(axis=1) >= 1 - 1e-6).all()


def test_an_empty_text_has_no_rows():
    assert ctc_alignment(np.zeros((3, 2)), []).shape == (0, 3)


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (np.zeros((2, 3)), [1, 1], r"`labels` must fit.* labels=2, places=2"),
        (np.zeros((1, 3)), [1, 2], "`labels` must fit the places"),
        (np.zeros((1, 2, 3)), [1], r"`log_probabilities` must have the shape \(S, V\)"),
        (np.zeros((0, 3)), [1], r"`log_probabilities` must have the shape \(S, V\)"),
    ],
)
def test_what_cannot_be_aligned_is_refused(scores, labels, message):
    with pytest.raises(ValueError, match=message):
        ctc_alignment(scores, labels)
