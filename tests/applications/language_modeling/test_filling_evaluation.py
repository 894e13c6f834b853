import numpy as np
import pytest

from applications.language_modeling import filling_evaluation, networks
from applications.language_modeling.filling_evaluation import spans
from applications.language_modeling.tokens import ByteTokens

TOKENS = ByteTokens(with_gap=True, num_sentinels=2)


def test_spans_end_where_the_next_begins():
    assert spans(np.array([260, 261, 72, 2, 90]), TOKENS) == {260: [], 261: [72]}
    assert spans(np.array([71, 72, 2]), TOKENS) == {0: [71, 72]}
    assert spans(np.array([2]), TOKENS) == {}


def test_an_untrained_model_is_about_chance(byte_data):
    data = byte_data("masked")
    model = networks.build(data.config, data.tokens.vocabulary_size)
    found = filling_evaluation.masked(data, data, model, None)
    assert found["tokens"] > 100
    assert found["perplexity_per_token"] == pytest.approx(261, rel=0.5)
    frequency = found["baselines"]["frequency"]
    # Of English letters: the blank is about a sixth.
    assert 10 < frequency["perplexity_per_token"] < 40
    assert 0.1 < frequency["accuracy"] < 0.25
