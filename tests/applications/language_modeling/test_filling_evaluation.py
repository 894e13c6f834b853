import numpy as np
import pytest
import tensorflow as tf

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
    assert "rows of 32 tokens" in found["protocol"]


def test_only_text_is_scored():
    """Neither padding nor markers, which are no text and need no knowledge of it."""
    a, b = TOKENS.ragged(["ab"])[0].numpy()
    size = TOKENS.vocabulary_size
    labels = tf.constant([[260, a, a, 261, b, 2, 0]])

    def model(inputs, training):
        return 9.0 * tf.one_hot(inputs, size)

    counts = np.bincount([a, a, b], minlength=size)
    predicted = tf.constant([[260, a, b, 261, b, 2, 0]])
    found = filling_evaluation._teacher_forced(
        model, [(predicted, labels)], counts, TOKENS
    )
    assert found["tokens"] == 3
    assert found["accuracy"] == pytest.approx(2 / 3)
    wrong = np.log(np.exp(9) + size - 1)
    assert np.log(found["perplexity_per_token"]) == pytest.approx(wrong - 6, abs=1e-4)
    fewer = filling_evaluation._teacher_forced(
        model, [(predicted, labels)], counts, TOKENS, (260, 261, 2)
    )
    wrong = np.log(np.exp(9) + size - 3 - 1)
    assert np.log(fewer["perplexity_per_token"]) == pytest.approx(wrong - 6, abs=1e-4)
    frequency = found["baselines"]["frequency"]
    chances = np.array([3, 3, 2]) / (size + 3)
    expected = np.exp(-np.log(chances).mean())
    assert frequency["perplexity_per_token"] == pytest.approx(expected)
    assert frequency["accuracy"] == pytest.approx(2 / 3)
