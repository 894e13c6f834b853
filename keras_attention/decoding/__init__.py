"""Searches for the best output of a model that predicts one token at a time.

A model brings `initial_state` and `step` (`Decodable`); a strategy (`GreedySearch`,
`BeamSearch`) brings the choice of the next tokens; one loop in `Search` runs them
inside the graph.
"""

from keras_attention.decoding.beam import BeamSearch
from keras_attention.decoding.greedy import GreedySearch
from keras_attention.decoding.penalty import length_penalty
from keras_attention.decoding.search import (
    Decodable,
    Decoded,
    Hypotheses,
    Search,
    Step,
)

__all__ = [
    "BeamSearch",
    "Decodable",
    "Decoded",
    "GreedySearch",
    "Hypotheses",
    "Search",
    "Step",
    "length_penalty",
]
