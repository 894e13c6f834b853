"""The books of a search: empty, chosen from, and one token longer."""

from math import inf

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import Hypotheses
from tests.backend import to_numpy

END, PAD = 2, 0


def books():
    """Of one item: one runs, one has finished, one is not there."""
    return Hypotheses(
        tokens=ops.convert_to_tensor([[[3, 4, 0], [5, 2, 0], [6, 6, 0]]], "int32"),
        lengths=ops.convert_to_tensor([[2, 2, 2]], "int32"),
        log_probabilities=ops.convert_to_tensor([[-1.0, -2.0, -inf]]),
        finished=ops.convert_to_tensor([[False, True, False]]),
    )


@pytest.mark.parametrize("started", [1, 3])
def test_at_first_the_started_ones_run_and_the_others_are_free(started):
    empty = Hypotheses.empty((2, 3), 5, 7, started)
    assert to_numpy(empty.tokens).tolist() == [[[7] * 5] * 3] * 2
    assert to_numpy(empty.lengths).tolist() == [[0] * 3] * 2
    assert not to_numpy(empty.finished).any()
    free = 3 - started
    assert to_numpy(empty.running).tolist() == [[True] * started + [False] * free] * 2
    scores = to_numpy(empty.log_probabilities)
    assert scores.tolist() == [[0.0] * started + [-inf] * free] * 2


def test_runs_what_is_there_and_has_not_finished():
    assert to_numpy(books().running).tolist() == [[True, False, False]]


def test_takes_every_field_of_the_chosen():
    index = ops.convert_to_tensor([[1, 0, 1, 1]], "int32")
    for taken, field in zip(books().taken(index), books(), strict=True):
        np.testing.assert_array_equal(to_numpy(taken), to_numpy(field)[:, [1, 0, 1, 1]])


def appended(tokens, found, waiting=None, before=None):
    before = before or books()
    return (
        to_numpy(field)
        for field in before.appended(
            ops.convert_to_tensor(tokens, "int32"),
            ops.convert_to_tensor(found),
            (END, 4),
            waiting,
        )
    )


def test_a_token_is_added_to_what_has_not_finished():
    tokens, lengths, found, _ = appended([[5, PAD, 5]], [[-1.5, -2.0, -inf]])
    assert tokens[0, :2].tolist() == [[3, 4, 5], [5, 2, PAD]]
    assert lengths[0, :2].tolist() == [3, 2]
    assert found.tolist() == [[-1.5, -2.0, -inf]]


@pytest.mark.parametrize(
    ("token", "length", "ends"),
    [(END, 1, True), (4, 1, True), (5, 2, True), (5, 1, False)],
)
def test_an_end_token_or_the_last_place_finishes_what_is_there(token, length, ends):
    lengths = ops.convert_to_tensor([[length] * 3], "int32")
    before = books()._replace(lengths=lengths)
    scores = [[-1.0, -2.0, -inf]]
    *_, finished = appended([[token] * 3], scores, before=before)
    assert finished.tolist() == [[ends, True, False]]


def test_a_place_is_free_where_the_choice_has_no_probability():
    """Also where it would have continued what has finished."""
    *_, finished = appended([[3, 3, 3]], [[-inf, -inf, -inf]])
    assert not finished.any()


def test_nothing_is_added_to_what_waits_for_its_prompt():
    waiting = ops.convert_to_tensor([[True]])
    scores = [[-1.0, -2.0, -inf]]
    for field, old in zip(appended([[END] * 3], scores, waiting), books(), strict=True):
        np.testing.assert_array_equal(field, to_numpy(old))
