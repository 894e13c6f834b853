"""Sampling: what is drawn how often, from which tokens, and by which seed."""

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import (
    AllowedTokens,
    ForcedPrefix,
    GreedySearch,
    NoRepeatNGrams,
    SamplingSearch,
)
from keras_attention.decoding.sampling import _place
from tests.backend import compiled, jax_only, tensorflow_only, to_numpy
from tests.keras_attention.decoding.toys import (
    END,
    PAD,
    START,
    Markov,
    Recurrent,
    arrays,
    assert_same,
    chain,
    decode,
    item_of,
)

BATCH, VOCABULARY, LENGTH, SAMPLES = 5, 7, 11, 20_000
CHANCES = np.array([0.05, 0.35, 0.02, 0.15, 0.25, 0.08, 0.1])
PARTS = [
    {},
    {"temperature": 0.5},
    {"temperature": 3.0},
    {"top_k": 1},
    {"top_k": 3},
    {"top_k": 100},
    {"top_p": 0.01},
    {"top_p": 0.34},
    {"top_p": 0.36},
    {"top_p": 0.7},
    {"top_p": 0.97},
    {"top_p": 1.0, "top_k": 100},
    {"min_p": 0.2},
    {"min_p": 1.0},
    {"top_k": 4, "top_p": 0.9},  # 0.9 of what the 4 have together
    {"temperature": 2.0, "top_p": 0.7},
    {"temperature": 1.5, "top_k": 5, "top_p": 0.9, "min_p": 0.5},
]


def sampling(max_length=LENGTH, **options):
    return SamplingSearch(max_length, START, END, PAD, **options)


def left(temperature=1.0, top_k=None, top_p=1.0, min_p=0.0):
    """The distribution that is drawn from, by the definitions, in float64."""
    chances = CHANCES ** (1 / temperature)
    order = np.argsort(-chances)[:top_k]
    likely = chances[order] / chances[order].sum()
    # The fewest tokens that together reach `top_p`.
    count = next(n for n in range(1, 8) if likely[:n].sum() >= top_p - 1e-12)
    likely = np.where(np.arange(len(likely)) < count, likely, 0)
    likely = np.where(likely >= min_p * likely[0], likely, 0)
    found = np.zeros_like(chances)
    found[order] = likely / likely.sum()
    return found


def assert_frequencies(counts, expected):
    """Counts of independent draws, five standard deviations of a binomial at most.

    By chance one of two million correct counts lies further off, and the seed is
    fixed. What has no chance is never drawn.
    """
    total = counts.sum()
    deviation = np.sqrt(expected * (1 - expected) / total)
    assert (abs(counts / total - expected) <= 5 * deviation + 1e-12).all()


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_draws_in_proportion_from_the_part_that_is_left(part):
    model = chain({START: dict(enumerate(CHANCES))})
    (found,) = decode(sampling(1, num_return=SAMPLES, **part), [model], batch_size=1)
    counts = np.bincount(found.tokens.ravel(), minlength=VOCABULARY)
    assert_frequencies(counts, left(**part))


def test_steps_and_samples_are_drawn_independently():
    """Pairs of tokens are as frequent as the product says."""
    likely = {1: 0.5, 3: 0.3, 4: 0.2}
    model = chain(dict.fromkeys(range(5), likely))
    (found,) = decode(sampling(3, num_return=SAMPLES), [model], batch_size=1)
    chances = np.array([likely.get(token, 0) for token in range(5)])
    counts = np.zeros((3, 5, 5))
    for row, places in enumerate(((0, 1), (1, 2), (0, 2))):
        first, second = found.tokens[0, :, places]
        np.add.at(counts[row], (first, second), 1)
        assert_frequencies(counts[row], np.outer(chances, chances))


@pytest.mark.parametrize("draw", [0.0, 0.3, 1 - 2**-24])
@pytest.mark.parametrize(
    "chances",
    [[0, 1, 0], [0, 0.2, 0, 0.1, 0], [1, 0, 0], [0, 0, 1e-30], [0.1] * 7 + [0]],
    ids=str,
)
def test_never_draws_what_has_no_chance(draw, chances):
    draws, chances = np.array([[[draw]]], "float32"), np.array([[chances]], "float32")
    place = to_numpy(_place(*map(ops.convert_to_tensor, (chances, draws))))
    assert chances[0, 0, place[0, 0]] > 0


def test_never_draws_what_has_no_chance_from_many():
    """Every running sum is drawn; how they are rounded differs by the backend."""
    random = np.random.default_rng(0)
    rows, size = 3, 1009
    chances = random.exponential(size=(rows, 1, size)).astype("float32")
    chances = np.where(random.random(chances.shape) < 0.5, 0, chances)
    chances[..., -1] = 0
    repeated = ops.convert_to_tensor(np.repeat(chances, size, axis=1))
    sums = ops.cumsum(repeated, axis=-1)[:, 0, :, None]
    places = to_numpy(_place(repeated, sums / sums[:, -1:]))
    assert (np.take_along_axis(chances[:, 0], places, axis=-1) > 0).all()


def test_the_only_likely_token_is_the_greedy_one():
    models = [Recurrent(seed, BATCH, VOCABULARY, LENGTH) for seed in range(3)]
    greedy = decode(GreedySearch(LENGTH, START, END, PAD), models, batch_size=BATCH)
    for options in ({"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}):
        drawn = decode(sampling(**options), models, batch_size=BATCH)
        for one, other in zip(drawn, greedy, strict=True):
            assert_same(one, other)


def test_log_probabilities_are_those_of_the_model():
    """At temperature 1 and with nothing cut off, the highest first."""
    model = Recurrent(3, BATCH, VOCABULARY, LENGTH)
    search = sampling(temperature=0.6, top_k=4, top_p=0.9, min_p=0.01, num_return=6)
    (found,) = decode(search, [model], batch_size=BATCH)
    for item, sample in np.ndindex(BATCH, 6):
        tokens = [START, *found.tokens[item, sample, : found.lengths[item, sample]]]
        steps = range(1, len(tokens))
        total = sum(model.reference(item, tokens[:i])[tokens[i]] for i in steps)
        np.testing.assert_allclose(
            found.log_probabilities[item, sample], total, rtol=1e-4, atol=1e-4
        )
    np.testing.assert_array_equal(found.scores, found.log_probabilities)
    assert (np.diff(found.scores, axis=1) <= 0).all()


def test_samples_of_an_item_differ():
    """Each of 4 ** 11 results is as likely as another, with no end before."""
    endless = dict.fromkeys((3, 4, 5, 6), 0.25)
    model = chain(dict.fromkeys(range(VOCABULARY), endless))
    (found,) = decode(sampling(num_return=6), [model], batch_size=1)
    assert len({tuple(tokens) for tokens in found.tokens[0]}) == 6


def test_the_draws_of_a_row_do_not_depend_on_the_others():
    large, small = (Markov(seed, BATCH, VOCABULARY, scale=0.5) for seed in (0, 1))
    other = Markov(2, BATCH, VOCABULARY)
    other.table[:2] = large.table[:2]
    small.table = large.table[:2]
    search = sampling(num_return=3)
    of_five = decode(search, [large, other], batch_size=BATCH)
    (of_two,) = decode(search, [small], batch_size=2)
    for item, found in np.ndindex(2, 2):
        assert_same(item_of(of_five[found], item), item_of(of_two, item))
    assert (of_five[0].tokens[2:] != of_five[1].tokens[2:]).any()


# ------------------------------------------------------------------------------- seeds

FREE = Markov(0, 2, VOCABULARY, scale=0.1)


def drawn(search, seed=None):
    state = FREE.initial_state()
    return search.search(FREE.step, state, batch_size=2, seed=seed)


def test_a_seed_fixes_the_tokens():
    search = sampling(num_return=2)
    first, again, other = (arrays(drawn(search, seed)) for seed in (5, 5, 6))
    assert_same(first, again)
    assert (first.tokens != other.tokens).any()


def test_without_a_seed_every_call_draws_anew():
    first, second = (arrays(drawn(search)) for search in [sampling()] * 2)
    assert (first.tokens != second.tokens).any()


def test_the_seed_of_a_search_fixes_all_its_calls():
    one, other = sampling(seed=3), sampling(seed=3)
    calls = [(arrays(drawn(one)), arrays(drawn(other))) for _ in range(2)]
    for first, second in calls:
        assert_same(first, second)
    assert (calls[0][0].tokens != calls[1][0].tokens).any()


def test_the_seed_of_a_call_leaves_that_of_the_search_alone():
    one, other = sampling(seed=3), sampling(seed=3)
    drawn(one, 9)
    assert_same(arrays(drawn(one)), arrays(drawn(other)))


def test_a_compiled_function_takes_the_seed():
    search = sampling(num_return=2)
    run = compiled(lambda seed: drawn(search, seed))
    for seed in (5, 6):
        found = arrays(run(ops.convert_to_tensor(seed)))
        assert_same(found, arrays(drawn(search, seed)))


@tensorflow_only
def test_without_a_seed_a_graph_draws_anew():
    search = sampling()
    run = compiled(lambda: drawn(search))
    assert (arrays(run()).tokens != arrays(run()).tokens).any()


@tensorflow_only
@pytest.mark.slow
def test_under_xla_too_draws_depend_on_the_seed_and_the_row():
    """They are others than those of TensorFlow's own kernels."""
    search = sampling(num_return=2, top_p=0.9, rules=[NoRepeatNGrams(2)])
    model = Markov(0, BATCH, VOCABULARY, scale=0.1)

    def run(table, seed):
        state = {"table": table}
        return search.search(model.step, state, batch_size=table.shape[0], seed=seed)

    run = compiled(run, jit=True)
    found, again, other = (
        arrays(run(ops.convert_to_tensor(model.table), ops.convert_to_tensor(seed)))
        for seed in (5, 5, 6)
    )
    assert_same(found, again)
    assert (found.tokens != other.tokens).any()
    fewer = run(ops.convert_to_tensor(model.table[:2]), ops.convert_to_tensor(5))
    for item in range(2):
        assert_same(item_of(arrays(fewer), item), item_of(found, item))


@jax_only
def test_jit_without_a_seed_is_refused():
    with pytest.raises(ValueError, match=r"Inside `jax\.jit` a search that samples"):
        compiled(lambda: drawn(sampling()))()


# ----------------------------------------------------------------- rules and arguments


def test_draws_among_what_the_rules_leave():
    def odd(prefix):
        return ops.arange(VOCABULARY) % 2 == 1

    rules = [ForcedPrefix([5]), NoRepeatNGrams(1), AllowedTokens(odd)]
    search = sampling(max_length=3, num_return=50, rules=rules)
    for found in decode(search, [FREE], batch_size=2):
        assert {tuple(tokens) for tokens in found.tokens.reshape(-1, 3).tolist()} == {
            (5, 1, 3),
            (5, 3, 1),
        }


@pytest.mark.parametrize("options", [{}, {"top_k": 2, "min_p": 0.1}], ids=str)
def test_a_sample_with_no_token_left_is_given_up(options):
    """What begins with 3 ends there; what begins with 4 goes on."""
    model = chain({START: {3: 0.5, 4: 0.5}, 4: {END: 1.0}})
    rule = AllowedTokens(lambda prefix: prefix.tokens[..., :1] != 3)
    search = sampling(4, num_return=20, rules=[rule], **options)
    (found,) = decode(search, [model], batch_size=1)
    assert {tuple(tokens) for tokens in found.tokens[0].tolist()} == {
        (4, END, PAD, PAD),
        (PAD, PAD, PAD, PAD),
    }
    there = found.lengths[0] > 0
    assert found.lengths[0, there].tolist() == [2] * there.sum()
    assert (found.scores[0, ~there] == -np.inf).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"temperature": 0}, "`temperature` must be positive; `GreedySearch`"),
        ({"temperature": -1.0}, "`temperature` must be positive"),
        ({"top_k": 0}, "`top_k` must be a positive integer"),
        ({"top_k": 2.5}, "`top_k` must be a positive integer"),
        ({"top_p": 0}, r"`top_p` must be in \(0, 1\]"),
        ({"top_p": 1.1}, r"`top_p` must be in \(0, 1\]"),
        ({"min_p": -0.1}, r"`min_p` must be in \[0, 1\]"),
        ({"min_p": 1.1}, r"`min_p` must be in \[0, 1\]"),
        ({"num_return": 0}, "`num_return` must be a positive integer"),
    ],
    ids=str,
)
def test_refuses_arguments_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        sampling(**arguments)
