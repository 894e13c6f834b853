"""Every rule against plain Python on random prefixes, and what it refuses."""

from math import inf

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import (
    AllowedTokens,
    BeamSearch,
    ForcedPrefix,
    MinLength,
    NoRepeatNGrams,
    Prefix,
    RepetitionPenalty,
)
from tests.backend import tensorflow_only, to_numpy
from tests.keras_attention.decoding import plain_rules
from tests.keras_attention.decoding.toys import END, PAD, START, Markov, decode

# Three tokens only, so that n-grams come again; many rows, each with its own lengths.
ITEMS, BEAMS, LENGTH, PROMPT, VOCABULARY = 41, 2, 11, 7, 3

RULES = plain_rules.pairs(VOCABULARY, END)
del RULES["forced"]  # its token is not among three
RULES |= {
    f"min_length {least}": (MinLength(least, END), plain_rules.min_length(least, END))
    for least in (1, 2, 20)
}
RULES |= {
    f"penalty {penalty} {with_prompt}": (
        RepetitionPenalty(penalty, with_prompt),
        plain_rules.repetition_penalty(penalty, with_prompt),
    )
    for penalty in (0.3, 1, 1.5)
    for with_prompt in (False, True)
}
RULES |= {
    f"{size}-grams {with_prompt}": (
        NoRepeatNGrams(size, with_prompt),
        plain_rules.no_repeat_ngrams(size, with_prompt),
    )
    for size in (1, 2, 3, 4)
    for with_prompt in (False, True)
}
RULES |= {
    f"forced {tokens}": (ForcedPrefix(tokens), plain_rules.forced_prefix(tokens))
    for tokens in ([2], [1, -1, 0], [-5, 2] * LENGTH)
}
every_rule = pytest.mark.parametrize(("rule", "plain"), RULES.values(), ids=RULES)


def random_prefix(seed, length=LENGTH):
    """A prefix in NumPy; what does not count is filled with tokens that could."""
    random = np.random.default_rng(seed)

    def tokens(*shape):
        return random.integers(VOCABULARY, size=shape, dtype="int32")

    return Prefix(
        tokens=tokens(ITEMS, BEAMS, length),
        lengths=random.integers(length + 1, size=(ITEMS, BEAMS), dtype="int32"),
        prompt=tokens(ITEMS, PROMPT),
        prompt_lengths=random.integers(1, PROMPT + 1, size=ITEMS, dtype="int32"),
    )


def random_log_probabilities(seed):
    size = (ITEMS, BEAMS)
    chances = np.random.default_rng(seed).dirichlet(np.ones(VOCABULARY), size)
    return np.log(chances).astype("float32")


def tensors(prefix):
    return Prefix(*map(ops.convert_to_tensor, prefix))


def by_hand(plain_of_item, following, prefix):
    """The log-probabilities `following` as the plain rule of each item changes them."""
    changed = np.empty_like(following)
    for item, beam in np.ndindex(following.shape[:2]):
        written = prefix.tokens[item, beam, : prefix.lengths[item, beam]].tolist()
        prompt = prefix.prompt[item, : prefix.prompt_lengths[item]].tolist()
        rules, before = [plain_of_item(item)], following[item, beam].tolist()
        changed[item, beam] = plain_rules.ruled(rules, before, written, prompt)
    return changed


@every_rule
@pytest.mark.parametrize("length", [LENGTH, 2])
def test_equals_plain_python(rule, plain, length):
    """Also where hypotheses are shorter than an n-gram."""
    following, prefix = random_log_probabilities(1), random_prefix(2, length)
    found = to_numpy(rule(ops.convert_to_tensor(following), tensors(prefix)))
    expected = by_hand(lambda item: plain, following, prefix)
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # one product in float32


@every_rule
def test_keeps_log_probabilities_at_or_below_0(rule, plain):
    """Those of a certain token and of impossible ones among them."""
    certain = np.full((ITEMS, BEAMS, VOCABULARY), -inf, "float32")
    certain[..., 1] = 0
    for following in (certain, random_log_probabilities(3)):
        following = ops.convert_to_tensor(following)
        found = to_numpy(rule(following, tensors(random_prefix(4))))
        assert (found <= 0).all()  # and none is NaN


@pytest.mark.parametrize("width", [1, 3, 2 * LENGTH])
def test_each_item_has_its_own_forced_tokens(width):
    rows = np.random.default_rng(0).integers(-1, VOCABULARY, size=(ITEMS, width))
    following, prefix = random_log_probabilities(1), random_prefix(2)
    rule = ForcedPrefix(rows)
    found = to_numpy(rule(ops.convert_to_tensor(following), tensors(prefix)))
    plain = [plain_rules.forced_prefix(row) for row in rows.tolist()]
    expected = by_hand(plain.__getitem__, following, prefix)
    np.testing.assert_array_equal(found, expected)


def test_forced_tokens_are_part_of_the_result_with_their_probability():
    model, rows = Markov(0, 2, 5), [[3, 4], [4, -1]]
    rules = [ForcedPrefix(rows)]
    search = BeamSearch(7, START, END, PAD, num_beams=3, num_return=3, rules=rules)
    (found,) = decode(search, [model], batch_size=2)
    assert (found.tokens[0, :, :2] == [3, 4]).all()
    assert (found.tokens[1, :, 0] == 4).all()
    for item, beam in np.ndindex(2, 3):
        tokens = [START, *found.tokens[item, beam, : found.lengths[item, beam]]]
        steps = range(1, len(tokens))
        total = sum(model.reference(item, tokens[:i])[tokens[i]] for i in steps)
        np.testing.assert_allclose(
            found.log_probabilities[item, beam], total, rtol=1e-5
        )


def test_allowed_tokens_may_come_for_all_hypotheses_at_once():
    following, prefix = random_log_probabilities(1), random_prefix(2)
    rule = AllowedTokens(lambda prefix: [True, False, True])
    found = to_numpy(rule(ops.convert_to_tensor(following), tensors(prefix)))
    assert (found[..., 1] == -inf).all()
    np.testing.assert_array_equal(found[..., [0, 2]], following[..., [0, 2]])


@tensorflow_only
@every_rule
def test_one_graph_serves_any_batch_and_prompt(rule, plain):
    import tensorflow as tf

    shapes = [(None, BEAMS, LENGTH), (None, BEAMS), (None, None), (None,)]
    specs = Prefix(*(tf.TensorSpec(shape, tf.int32) for shape in shapes))
    first = tf.TensorSpec((None, BEAMS, VOCABULARY))
    run = tf.function(rule.__call__, input_signature=[first, specs])
    following, prefix = random_log_probabilities(1), random_prefix(2)
    for count, width in ((ITEMS, PROMPT), (5, 1)):
        part = Prefix(*(field[:count] for field in prefix))
        lengths = np.minimum(part.prompt_lengths, width)
        part = part._replace(prompt=part.prompt[:, :width], prompt_lengths=lengths)
        found = run(tf.constant(following[:count]), tensors(part))
        expected = by_hand(lambda item: plain, following[:count], part)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda: MinLength(0, END), "`min_length` must be a positive integer"),
        (lambda: RepetitionPenalty(0), "`penalty` must be positive"),
        (lambda: RepetitionPenalty(-1.2), "`penalty` must be positive"),
        (lambda: NoRepeatNGrams(0), "`size` must be a positive integer"),
        (lambda: NoRepeatNGrams(2.5), "`size` must be a positive integer"),
        (lambda: ForcedPrefix(3), r"`tokens` must have the shape \(tokens,\) or"),
        (lambda: ForcedPrefix([]), r"`tokens` must .* Received: shape=\(0,\)"),
        (lambda: ForcedPrefix(np.zeros((2, 0))), r"Received: shape=\(2, 0\)"),
        (lambda: ForcedPrefix(np.zeros((2, 3, 5))), r"Received: shape=\(2, 3, 5\)"),
    ],
)
def test_refuses_arguments_out_of_range(rule, message):
    with pytest.raises(ValueError, match=message):
        rule()
