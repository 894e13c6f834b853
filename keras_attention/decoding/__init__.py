"""Searches for the best output of a model that predicts one token at a time.

A model brings `initial_state` and `step` (`Decodable`); a strategy (`GreedySearch`,
`BeamSearch`, `SamplingSearch`) brings the choice of the next tokens; rules
(`NoRepeatNGrams`, `AllowedTokens`, ...) say which may come next; one loop in `Search`
runs them inside the graph. CTC logits, one row for each frame, have searches of their
own (`ctc_greedy_search`, `ctc_beam_search`) and join in with any other (`JointCTC`).
"""

from keras_attention.decoding.beam import BeamSearch
from keras_attention.decoding.ctc import ctc_beam_search, ctc_greedy_search
from keras_attention.decoding.ctc_prefix import CTCPrefixScores
from keras_attention.decoding.greedy import GreedySearch
from keras_attention.decoding.hypotheses import Decoded, Hypotheses
from keras_attention.decoding.joint_ctc import Hybrid, JointCTC
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
from keras_attention.decoding.search import Decodable, LogScores, Search, Step

__all__ = [
    "AllowedTokens",
    "BeamSearch",
    "CTCPrefixScores",
    "Decodable",
    "Decoded",
    "ForcedPrefix",
    "GreedySearch",
    "Hybrid",
    "Hypotheses",
    "JointCTC",
    "KerasHubCausalLM",
    "KerasHubSeq2SeqLM",
    "LogScores",
    "MinLength",
    "NoRepeatNGrams",
    "Prefix",
    "RepetitionPenalty",
    "Rule",
    "SamplingSearch",
    "Search",
    "Step",
    "ctc_beam_search",
    "ctc_greedy_search",
    "length_penalty",
]
