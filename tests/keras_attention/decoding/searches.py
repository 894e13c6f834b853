"""Every kind of search that the tests of the loop run over."""

import pytest
from keras import ops

from keras_attention.decoding import (
    AllowedTokens,
    BeamSearch,
    ForcedPrefix,
    GreedySearch,
    NoRepeatNGrams,
    RepetitionPenalty,
    SamplingSearch,
)
from tests.keras_attention.decoding import plain_rules
from tests.keras_attention.decoding.toys import END, PAD, START

BATCH, VOCABULARY, LENGTH = 5, 7, 11
TOKENS = (LENGTH, START, END, PAD)


def late_five(prefix):
    """Token 5 may not be among the first three."""
    return (ops.arange(VOCABULARY) != 5) | (prefix.lengths[..., None] >= 3)


def unchanged(log_probabilities, prefix):
    """Any function is a rule."""
    return log_probabilities


RULED = {
    "min_length": 2,
    "rules": [
        RepetitionPenalty(1.2, with_prompt=True),
        NoRepeatNGrams(2, with_prompt=True),
        ForcedPrefix([3]),
        AllowedTokens(late_five),
        unchanged,
    ],
}
PLAIN_RULES = [
    plain_rules.min_length(2, END),
    plain_rules.repetition_penalty(1.2, with_prompt=True),
    plain_rules.no_repeat_ngrams(2, with_prompt=True),
    plain_rules.forced_prefix([3]),
    lambda following, written, prompt: plain_rules.without(
        following, {5} if len(written) < 3 else ()
    ),
]
CERTAIN = {
    "greedy": GreedySearch(*TOKENS),
    "beam": BeamSearch(*TOKENS, num_beams=3, num_return=2),
    "penalty": BeamSearch(*TOKENS, num_beams=3, length_penalty=1.0),
    "greedy with rules": GreedySearch(*TOKENS, **RULED),
    "beam with rules": BeamSearch(*TOKENS, num_beams=3, num_return=2, **RULED),
}
DRAWN = {
    "sampling": SamplingSearch(
        *TOKENS, temperature=0.8, top_k=6, top_p=0.95, min_p=0.01, num_return=2
    ),
    "sampling with rules": SamplingSearch(*TOKENS, **RULED),
}
SEARCHES = {**CERTAIN, **DRAWN}
every_search = pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
# What is drawn depends on the row's place in the batch, but for the only likely token.
ALONE = {**CERTAIN, "sampling of one": SamplingSearch(*TOKENS, top_k=1, **RULED)}
every_search_by_rows = pytest.mark.parametrize("search", ALONE.values(), ids=ALONE)
