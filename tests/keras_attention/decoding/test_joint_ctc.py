"""Attention and CTC together, against every text that both can write."""

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import BeamSearch, GreedySearch, JointCTC, LogScores
from tests.backend import compiled, tensorflow_only, to_numpy
from tests.keras_attention.decoding.test_ctc_prefix import (
    END,
    LENGTHS,
    MASK,
    START,
    B,
    S,
    V,
    chances,
    logits,
)
from tests.keras_attention.decoding.toys import Markov, arrays


class Toy:
    """The memory is the CTC logits; tokens follow each other by a chain."""

    def __init__(self):
        self.chain = Markov(3, B, V)

    def encode(self, logits, mask):
        return logits, mask

    def ctc_logits(self, memory):
        return memory

    def memory_state(self, memory, mask, max_length):
        rows = ops.shape(memory)[0]
        return {"table": ops.convert_to_tensor(self.chain.table)[:rows]}

    def step(self, tokens, state):
        return self.chain.step(tokens, state)

    def attended(self, item, text):
        """Log-probability of a text and its end."""
        whole = (START, *text, END)
        rows = range(1, len(whole))
        return sum(self.chain.reference(item, whole[:t])[whole[t]] for t in rows)


def decode(joint, search, given):
    def run(logits, mask):
        state = joint.initial_state(logits, mask, max_length=search.max_length)
        return search.search(joint.step, state, batch_size=ops.shape(logits)[0])

    return arrays(compiled(run)(*map(ops.convert_to_tensor, given)))


@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_a_wide_beam_finds_every_text_in_order(weight):
    """Each with the weighted sum of both log-probabilities of the whole text."""
    toy = Toy()
    search = BeamSearch(S + 1, START, END, num_beams=61, num_return=61)
    found = decode(JointCTC(toy, weight), search, (logits(np.nan), MASK))
    for item in range(B):
        expected = {
            text: weight * np.log(chance) + (1 - weight) * toy.attended(item, text)
            for text, chance in chances(item).items()
        }
        count = (found.lengths[item] > 0).sum()
        assert count == len(expected)
        scores = found.scores[item, :count]
        ordered = sorted(expected.values(), reverse=True)
        np.testing.assert_allclose(scores, ordered, rtol=1e-4, atol=1e-4)
        for row, length, score in zip(
            found.tokens[item], found.lengths[item], scores, strict=False
        ):
            text = tuple(row[: length - 1].tolist())
            np.testing.assert_allclose(score, expected[text], rtol=1e-4, atol=1e-4)


def test_a_step_adds_both_scores_as_they_are():
    """Not made to sum to 1: a prefix that both dislike stays disliked."""
    toy = Toy()
    joint = JointCTC(toy, 0.4)
    state = joint.initial_state(logits(), MASK, max_length=5)
    begun = ops.full((B,), START, dtype="int32")
    scores, after = joint.step(begun, state)
    assert isinstance(scores, LogScores)
    ctc, _ = joint.prefix_scores.step(begun, state["ctc"])
    attended, _ = toy.step(begun, state["model"])
    expected = 0.4 * to_numpy(ctc.values) + 0.6 * to_numpy(ops.log_softmax(attended))
    np.testing.assert_allclose(to_numpy(scores.values), expected, rtol=1e-5)
    assert (np.exp(expected).sum(-1) < 0.99).any()
    assert after["ctc"]["frames"] is state["ctc"]["frames"]


def test_an_item_is_decoded_as_it_would_be_alone():
    joint, search = JointCTC(Toy()), BeamSearch(S + 1, START, END, num_beams=3)
    together = decode(joint, search, (logits(np.nan), MASK))
    joint.model.chain.table = joint.model.chain.table[1:]
    alone = decode(
        joint, search, (logits()[1:2, : LENGTHS[1]], MASK[1:2, : LENGTHS[1]])
    )
    np.testing.assert_array_equal(alone.tokens[0], together.tokens[1])
    np.testing.assert_allclose(alone.scores[0], together.scores[1], rtol=1e-5)


@tensorflow_only
@pytest.mark.parametrize("kind", ["beam", "greedy"])
def test_traces_once_for_any_batch_and_length(kind):
    import tensorflow as tf

    tokens = (S + 1, START, END)
    search = GreedySearch(*tokens)
    if kind == "beam":
        search = BeamSearch(*tokens, num_beams=3)
    joint, traces = JointCTC(Toy()), []

    def run(logits, mask):
        traces.append(logits)
        state = joint.initial_state(logits, mask, max_length=S + 1)
        found = search.search(joint.step, state, batch_size=tf.shape(logits)[0])
        return found.tokens, found.scores

    signature = [tf.TensorSpec((None, None, V)), tf.TensorSpec((None, None), tf.bool)]
    graph = tf.function(run, input_signature=signature, autograph=False)
    for rows, width in ((3, 4), (1, 3)):
        given = logits()[:rows, :width], MASK[:rows, :width]
        expected = decode(joint, search, given)
        tokens, scores = graph(*given)
        np.testing.assert_array_equal(tokens, expected.tokens)
        np.testing.assert_allclose(scores, expected.scores, rtol=1e-5, atol=1e-5)
    assert len(traces) == 1


@pytest.mark.parametrize("weight", [0.0, -0.1, 1.1])
def test_a_weight_is_a_share(weight):
    with pytest.raises(ValueError, match=r"`weight` must be in \(0, 1\]"):
        JointCTC(Toy(), weight)
