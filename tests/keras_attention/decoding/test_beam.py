"""Beam search against exhaustive search, and against greedy search."""

import math

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import (
    AllowedTokens,
    BeamSearch,
    GreedySearch,
    Hypotheses,
    length_penalty,
)
from tests.keras_attention.decoding import plain_rules
from tests.keras_attention.decoding.toys import (
    END,
    PAD,
    START,
    Markov,
    Recurrent,
    assert_same,
    chain,
    count_sequences,
    decode,
    exhaustive,
    padded,
)

BATCH, VOCABULARY, LENGTH, SEEDS = 3, 4, 4, range(6)
MODELS = {
    "markov": [Markov(seed, BATCH, VOCABULARY) for seed in SEEDS],
    "recurrent": [Recurrent(seed, BATCH, VOCABULARY, LENGTH) for seed in SEEDS],
}
every_model = pytest.mark.parametrize("kind", MODELS)
every_penalty = pytest.mark.parametrize(
    ("form", "alpha"),
    [("length", 0.0), ("length", 1.5), ("gnmt", 3.0)],
)

RULES = plain_rules.pairs(VOCABULARY, END)
# The options of a search by name, each with the plain rules that do the same.
OPTIONS = {name: ({"rules": [rule]}, [plain]) for name, (rule, plain) in RULES.items()}
OPTIONS["plain"] = ({}, [])
OPTIONS["all"] = (
    {"min_length": 3, "rules": [RULES[name][0] for name in RULES if name != "tokens"]},
    [RULES["min_length"][1], *(RULES[name][1] for name in RULES if name != "tokens")],
)


def beam(
    num_beams, max_length=LENGTH, alpha=0.0, form="length", num_return=1, **options
):
    return BeamSearch(
        max_length,
        START,
        END,
        PAD,
        num_beams=num_beams,
        length_penalty=alpha,
        length_penalty_kind=form,
        num_return=num_return,
        **options,
    )


def truths(model, form, alpha, rules=()):
    """Every hypothesis of every item, the best first, in float64."""
    penalties = ops.convert_to_numpy(length_penalty(range(LENGTH + 1), alpha, form))

    def of_item(item):
        def following(prefix):
            following = model.reference(item, prefix)
            return plain_rules.ruled(rules, following, prefix[1:], prefix[:1])

        return exhaustive(following, VOCABULARY, LENGTH, penalties.item)

    return [of_item(item) for item in range(BATCH)]


def assert_best(found, item, truth):
    """`found` holds the first of `truth` in order, up to the order of ties."""
    assert (found.lengths[item, len(truth) :] == 0).all()
    assert (found.scores[item, len(truth) :] == -math.inf).all()
    found = type(found)(*(field[:, : len(truth)] for field in found[:-1]))
    scores = [score for score, _, _ in truth]
    close = {"rtol": 1e-5, "atol": 1e-5}
    count = found.scores.shape[1]
    np.testing.assert_allclose(found.scores[item], scores[:count], **close)
    true = {tuple(padded(hypothesis[1], LENGTH)): hypothesis for hypothesis in truth}
    rows = [tuple(row) for row in found.tokens[item].tolist()]
    assert len(set(rows)) == count
    scores, tokens, totals = zip(*(true[row] for row in rows), strict=True)
    np.testing.assert_allclose(found.scores[item], scores, **close)
    np.testing.assert_allclose(found.log_probabilities[item], totals, **close)
    assert found.lengths[item].tolist() == [len(one) for one in tokens]


@every_model
@every_penalty
def test_wide_beam_finds_every_hypothesis_in_order(kind, form, alpha):
    every = count_sequences(VOCABULARY, LENGTH)
    search = beam(every, alpha=alpha, form=form, num_return=every)
    results = decode(search, MODELS[kind], batch_size=BATCH)
    for model, found in zip(MODELS[kind], results, strict=True):
        for item, truth in enumerate(truths(model, form, alpha)):
            assert len(truth) == every
            assert_best(found, item, truth)


@every_model
@pytest.mark.parametrize(
    ("name", "form", "alpha"),
    [
        *((name, "length", 1.5) for name in RULES),
        ("all", "length", 0.0),
        ("all", "length", 1.5),
        ("all", "gnmt", 3.0),
    ],
)
def test_wide_beam_finds_every_hypothesis_that_the_rules_leave(kind, name, form, alpha):
    every = count_sequences(VOCABULARY, LENGTH)
    options, rules = OPTIONS[name]
    search = beam(every, alpha=alpha, form=form, num_return=every, **options)
    results = decode(search, MODELS[kind], batch_size=BATCH)
    for model, found in zip(MODELS[kind], results, strict=True):
        for item, truth in enumerate(truths(model, form, alpha, rules)):
            assert len(truth) > 3
            assert_best(found, item, truth)


@every_model
@every_penalty
@pytest.mark.parametrize(
    ("num_return", "name"), [(1, "plain"), (3, "plain"), (3, "penalty below 1")]
)
def test_stopping_early_loses_nothing(kind, form, alpha, num_return, name):
    options, rules = OPTIONS[name]
    wide = VOCABULARY ** (LENGTH - 1)
    search = beam(wide, LENGTH, alpha, form, num_return, **options)
    results = decode(search, MODELS[kind], batch_size=BATCH)
    for model, found in zip(MODELS[kind], results, strict=True):
        for item, truth in enumerate(truths(model, form, alpha, rules)):
            assert_best(found, item, truth)


@every_model
@pytest.mark.parametrize(
    ("name", "form", "alpha"),
    [
        ("plain", "length", 0.0),
        ("plain", "length", 1.5),
        ("plain", "gnmt", 3.0),
        ("all", "length", 1.5),
    ],
)
def test_c35_one_beam_is_greedy_search(kind, name, form, alpha):
    models, (options, _) = MODELS[kind], OPTIONS[name]
    search = GreedySearch(LENGTH, START, END, PAD, **options)
    greedy = decode(search, models, batch_size=BATCH)
    single = decode(
        beam(1, alpha=alpha, form=form, **options), models, batch_size=BATCH
    )
    for one, other in zip(greedy, single, strict=True):
        assert_same(one, other._replace(scores=one.scores))


@every_model
def test_returns_the_best_first_by_the_length_of_each(kind):
    search = beam(5, alpha=1.0, num_return=5)
    for found in decode(search, MODELS[kind], batch_size=BATCH):
        assert (np.diff(found.scores, axis=1) <= 0).all()
        np.testing.assert_allclose(
            found.scores, found.log_probabilities / found.lengths, rtol=1e-6
        )
        for item in range(BATCH):
            assert len({tuple(tokens) for tokens in found.tokens[item]}) == 5


C36_A, C36_B = [3, END, PAD, PAD, PAD, PAD], [4, 5, 6, END, PAD, PAD]


@pytest.mark.parametrize("prompt", [[START], [8, 9, START]], ids=["plain", "prompt"])
@pytest.mark.parametrize(
    ("form", "alpha", "expected"),
    [
        ("length", 0.0, [(C36_A, -1.0), (C36_B, -1.6)]),
        ("length", 0.5, [(C36_A, -0.707107), (C36_B, -0.8)]),
        ("length", 1.0, [(C36_B, -0.4), (C36_A, -0.5)]),
        ("gnmt", 1.0, [(C36_A, -0.857143), (C36_B, -1.066667)]),
        ("gnmt", 2.0, [(C36_B, -0.711111), (C36_A, -0.734694)]),
    ],
)
def test_c36_the_length_of_each_decides_and_not_the_prompt(
    form, alpha, expected, prompt
):
    """A has 2 generated tokens and -1.0, B has 4 and -1.6; the rest is less likely."""
    first = {3: math.exp(-1.0), 4: math.exp(-1.6)}
    rest = range(7, 17)
    first |= dict.fromkeys(rest, (1 - sum(first.values())) / len(rest))
    ending = {token: {END: 1.0} for token in (3, 6, *rest)}
    model = chain({START: first, 4: {5: 1.0}, 5: {6: 1.0}, **ending})
    search = beam(4, 6, alpha, form, num_return=2)
    (found,) = decode(search, [model], prompt=np.array([prompt]))
    assert found.tokens[0].tolist() == [tokens for tokens, _ in expected]
    scores = [score for _, score in expected]
    np.testing.assert_allclose(found.scores[0], scores, atol=1e-5)


def test_a_finished_hypothesis_is_frozen_while_others_run():
    """(end) of 0.4 stays as it is while (3, 4, 5, end) of 0.6 is written."""
    path = {3: {4: 1.0}, 4: {5: 1.0}, 5: {END: 1.0}, END: {3: 1.0}}
    model = chain({START: {END: 0.4, 3: 0.6}, **path})
    (found,) = decode(beam(2, 6, num_return=2), [model], batch_size=1)
    assert found.tokens[0].tolist() == [
        [3, 4, 5, END, PAD, PAD],
        [END, PAD, PAD, PAD, PAD, PAD],
    ]
    assert found.lengths[0].tolist() == [4, 1]
    np.testing.assert_allclose(np.exp(found.scores[0]), [0.6, 0.4], rtol=1e-5)


def test_hypotheses_that_do_not_exist_are_empty():
    model = chain({START: {3: 1.0}, 3: {END: 1.0}})
    (found,) = decode(beam(3, 4, num_return=3), [model], batch_size=1)
    assert found.tokens[0].tolist() == [[3, END, PAD, PAD], [PAD] * 4, [PAD] * 4]
    assert found.lengths[0].tolist() == [2, 0, 0]
    assert found.scores[0].tolist() == [0.0, -math.inf, -math.inf]


def test_a_hypothesis_with_no_token_left_is_given_up():
    """The most probable token leads nowhere: greedy search ends there."""
    model = chain({START: {3: 0.6, 4: 0.4}, 4: {END: 1.0}})
    options = {"rules": [AllowedTokens(lambda prefix: prefix.tokens[..., :1] != 3)]}
    for search in (GreedySearch(4, START, END, PAD, **options), beam(1, 4, **options)):
        (found,) = decode(search, [model], batch_size=1)
        assert found.tokens.tolist() == [[[PAD] * 4]]
        assert found.lengths.tolist() == [[0]]
        assert found.scores.tolist() == [[-math.inf]]
    (found,) = decode(beam(2, 4, num_return=2, **options), [model], batch_size=1)
    assert found.tokens.tolist() == [[[4, END, PAD, PAD], [PAD] * 4]]
    assert found.lengths.tolist() == [[2, 0]]
    np.testing.assert_allclose(found.scores, [[math.log(0.4), -math.inf]], rtol=1e-6)


@pytest.mark.parametrize(("num_return", "last"), [(1, -math.inf), (2, -4.1)])
def test_gives_up_beams_that_cannot_come_among_the_best(num_return, last):
    """To beat is -1.0 / 2; at full length -3.9 / 8 would do and -4.1 / 8 would not."""
    search = beam(3, 8, alpha=1.0, num_return=num_return)
    hypotheses = Hypotheses(
        tokens=ops.full((1, 3, 8), 3),
        lengths=ops.array([[2, 3, 3]]),
        log_probabilities=ops.array([[-1.0, -3.9, -4.1]]),
        finished=ops.array([[True, False, False]]),
    )
    found = ops.convert_to_numpy(search.prune(hypotheses).log_probabilities)
    np.testing.assert_allclose(found, [[-1.0, -3.9, last]], rtol=1e-6)


def test_stops_when_no_beam_can_beat_the_best():
    """(end) of 0.6 beats whatever follows 0.4; after that the model says NaN."""

    def step(tokens, position):
        chances = ops.array([0.0, 0.0, 0.6, 0.4])
        chances = ops.where(position < 1, chances, float("nan"))
        return ops.tile(ops.log(chances)[None], (2, 1)), position + 1

    found = beam(2, 6).search(step, 0, batch_size=1)
    assert ops.convert_to_numpy(found.tokens).tolist() == [[[END] + 5 * [PAD]]]
    assert float(found.scores[0, 0]) == pytest.approx(math.log(0.6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_beams": 0}, "`num_beams` must be a positive integer"),
        ({"num_beams": 2, "num_return": 3}, "`num_return` must be at most `num_beams`"),
        ({"length_penalty": -0.5}, "`length_penalty` must be at least 0"),
        ({"length_penalty_kind": "none"}, "`length_penalty_kind` must be one of"),
    ],
)
def test_refuses_arguments_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        BeamSearch(5, START, END, **arguments)
