"""Every rule in plain Python: one hypothesis, its tokens in lists.

A plain rule is a function `rule(following, written, prompt)` of the log-probabilities
of the next token, of the tokens written so far and of those of the prompt.
"""

from math import inf

from keras import ops

from keras_attention.decoding import (
    AllowedTokens,
    ForcedPrefix,
    MinLength,
    NoRepeatNGrams,
    RepetitionPenalty,
)


def without(following, forbidden):
    return [-inf if token in forbidden else p for token, p in enumerate(following)]


def min_length(least, end):
    def rule(following, written, prompt):
        return without(following, {end} if len(written) + 1 < least else ())

    return rule


def repetition_penalty(penalty, with_prompt=False):
    def rule(following, written, prompt):
        seen = {*written, *(prompt if with_prompt else ())}
        return [p * penalty if t in seen else p for t, p in enumerate(following)]

    return rule


def no_repeat_ngrams(size, with_prompt=False):
    def rule(following, written, prompt):
        text = (*(prompt if with_prompt else ()), *written)
        grams = {text[start : start + size] for start in range(len(text) - size + 1)}
        last = text[len(text) - size + 1 :]
        every = range(len(following))
        return without(following, {t for t in every if (*last, t) in grams})

    return rule


def forced_prefix(tokens):
    def rule(following, written, prompt):
        forced = tokens[len(written)] if len(written) < len(tokens) else -1
        others = set(range(len(following))) - {forced}
        return following if forced < 0 else without(following, others)

    return rule


def not_in_step(following, written, prompt):
    """Every third token is forbidden, another one at each place."""
    every = range(len(following))
    return without(following, {t for t in every if (t + len(written)) % 3 == 0})


def pairs(vocabulary_size, end):
    """Rules by name, each with its plain one; their tokens are below 4."""

    def in_step(prefix):
        return (ops.arange(vocabulary_size) + prefix.lengths[..., None]) % 3 != 0

    return {
        "min_length": (MinLength(3, end), min_length(3, end)),
        "penalty above 1": (RepetitionPenalty(1.7), repetition_penalty(1.7)),
        "penalty below 1": (
            RepetitionPenalty(0.4, with_prompt=True),
            repetition_penalty(0.4, with_prompt=True),
        ),
        "tokens": (NoRepeatNGrams(1), no_repeat_ngrams(1)),
        "bigrams": (
            NoRepeatNGrams(2, with_prompt=True),
            no_repeat_ngrams(2, with_prompt=True),
        ),
        "forced": (ForcedPrefix([-1, 3]), forced_prefix([-1, 3])),
        "allowed": (AllowedTokens(in_step), not_in_step),
    }


def ruled(rules, following, written, prompt):
    """`following` as plain `rules` change it, in order."""
    for rule in rules:
        following = rule(following, tuple(written), tuple(prompt))
    return following
