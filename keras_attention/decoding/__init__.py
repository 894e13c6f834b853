"""Searches for the best output of a model that predicts one token at a time.

A model brings `initial_state` and `step` (`Decodable`); a strategy (`GreedySearch`,
`BeamSearch`, `SamplingSearch`) brings the choice of the next tokens; rules
(`NoRepeatNGrams`, `AllowedTokens`, ...) say which may come next; one loop in `Search`
runs them inside the graph.
"""

from keras_attention.decoding.beam import BeamSearch
from keras_attention.decoding.greedy import GreedySearch
from keras_attention.decoding.hypotheses import Decoded, Hypotheses
from keras_attention.decoding.keras_hub import KerasHubCausalLM, KerasHubSeq2SeqLM
from keras_attention.decoding.penalty import length_penalty
from keras_attention.decoding.rules import (
    AllowedTokens,
    ForcedPrefix,
    MinLength,
    NoRepeatNGrams,
    Prefix,
    RepetitionPenalty,
    Rule,
)
from keras_attention.decoding.sampling import SamplingSearch
from keras_attention.decoding.search import Decodable, Search, Step

__all__ = [
    "AllowedTokens",
    "BeamSearch",
    "Decodable",
    "Decoded",
    "ForcedPrefix",
    "GreedySearch",
    "Hypotheses",
    "KerasHubCausalLM",
    "KerasHubSeq2SeqLM",
    "MinLength",
    "NoRepeatNGrams",
    "Prefix",
    "RepetitionPenalty",
    "Rule",
    "SamplingSearch",
    "Search",
    "Step",
    "length_penalty",
]
