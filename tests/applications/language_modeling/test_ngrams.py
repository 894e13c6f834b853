import itertools

import numpy as np
import pytest

from applications.language_modeling.ngrams import KneserNey

TEXTS = [
    "it was a truth universally known",
    "a single man, known to be a man",
    "it was",
]


def of_nltk(order, discount, size):
    """nltk's model, with its single tokens interpolated as ours are.

    It is given the n-grams that end in a token: there is no end to predict.
    """
    from nltk.lm import KneserNeyInterpolated
    from nltk.util import pad_sequence

    model = KneserNeyInterpolated(order, discount=discount)
    padded = [
        list(pad_sequence(text, order, pad_left=True, left_pad_symbol="<s>"))
        for text in TEXTS
    ]
    grams = [
        [
            tuple(tokens[end - length : end])
            for end in range(order, len(tokens) + 1)
            for length in range(1, order + 1)
        ]
        for tokens in padded
    ]
    model.fit(grams, vocabulary_text=[*"".join(TEXTS), "<s>"])
    plain = model.estimator.unigram_score
    bigrams = {gram for text in grams for gram in text if len(gram) == 2}
    share = len(set("".join(TEXTS))) * discount / len(bigrams)

    def interpolated(word):
        return max(plain(word) - discount / len(bigrams), 0) + share / size

    model.estimator.unigram_score = interpolated
    return model


@pytest.mark.parametrize(("order", "discount"), [(2, 0.5), (3, 0.75), (4, 0.9)])
def test_the_plain_form_is_nltks(order, discount):
    ours = KneserNey(order, discount).fit(TEXTS)
    size = len(set("".join(TEXTS))) + 1
    theirs = of_nltk(order, discount, size)
    for text in ("it was a man", "now, unity", "zzit"):
        padded = ["<s>"] * (order - 1) + list(text)
        expected = [
            theirs.score(padded[end], padded[end - order + 1 : end])
            for end in range(order - 1, len(padded))
            if padded[end] != "z"  # nltk gives what it never saw another share
        ]
        found = 2.0 ** ours.log2_probabilities([text])[0]
        known = [token != "z" for token in text]
        np.testing.assert_allclose(found[known], expected, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize("discount", [None, 0.6])
def test_probabilities_add_up_to_one(order, discount):
    random = np.random.default_rng(0)
    train = random.zipf(1.5, (3, 2000)) % 40
    model = KneserNey(order, discount).fit(train)
    vocabulary = [*np.unique(train), "never seen"]
    contexts = [[], train[0][:7].tolist(), [1, 1, 1, 2, 3], ["never seen", 1], [99]]
    for context in contexts:
        last = model.log2_probabilities([[*context, token] for token in vocabulary])
        assert sum(2 ** bits[-1] for bits in last) == pytest.approx(1, abs=1e-9)


def test_discounts_are_chen_and_goodmans():
    counts = np.repeat([1, 2, 3, 4, 9], [40, 15, 8, 5, 3])
    share = 40 / (40 + 2 * 15)
    expected = [1 - 2 * share * 15 / 40, 2 - 3 * share * 8 / 15, 3 - 4 * share * 5 / 8]
    np.testing.assert_allclose(KneserNey()._discounts(counts), [0, *expected])


@pytest.mark.parametrize("seen", [[40, 15, 8, 0], [4, 15, 8, 500], [0, 0, 0, 0]])
def test_too_few_counts_give_fixed_discounts(seen):
    counts = np.repeat([1, 2, 3, 4, 9], [*seen, 3])
    assert KneserNey()._discounts(counts).tolist() == [0, 0.5, 1, 1.5]


def test_longer_contexts_help_where_there_is_a_pattern():
    tokens = list(itertools.islice(itertools.cycle("aabab"), 500))
    bits = [
        -KneserNey(order).fit([tokens]).log2_probabilities([tokens])[0].mean()
        for order in (1, 2, 3, 4, 5)
    ]
    assert bits == sorted(bits, reverse=True)
    assert bits[0] == pytest.approx(0.971, abs=0.01)  # the entropy of 3 in 5
    assert bits[-1] < 0.05


def test_a_vocabulary_of_a_known_size_shares_the_rest():
    small, large = (
        KneserNey(2, 0.5, vocabulary_size=size).fit(["abab"]) for size in (4, 400)
    )
    unknown = [model.log2_probabilities(["c"])[0][0] for model in (small, large)]
    assert unknown[0] - unknown[1] == pytest.approx(np.log2(100))


def test_sequences_are_apart_and_may_be_empty():
    model = KneserNey(3).fit(["abcabd", "", "bca"])
    together = model.log2_probabilities(["abc", "", "bcab"])
    assert [len(bits) for bits in together] == [3, 0, 4]
    for bits, text in zip(together, ["abc", "", "bcab"], strict=True):
        np.testing.assert_array_equal(bits, model.log2_probabilities([text])[0])
    assert model.log2_probabilities([]) == []


@pytest.mark.parametrize(
    ("arguments", "sequences", "message"),
    [
        ({"order": 0}, ["a"], "`order` must be a positive integer"),
        ({"discount": 1.0}, ["a"], "`discount` must be in"),
        ({"vocabulary_size": 1}, ["ab"], "as large as the 2 different tokens"),
        ({}, [""], "must have a token"),
    ],
)
def test_what_cannot_be_is_refused(arguments, sequences, message):
    with pytest.raises(ValueError, match=message):
        KneserNey(**arguments).fit(sequences)
