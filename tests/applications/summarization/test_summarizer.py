"""What is cut, what is forbidden, and texts of every kind, in Python."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from applications.summarization.application import Summarization
from applications.summarization.data import SummarizationData
from applications.summarization.presets import SummaryDecodeConfig
from applications.summarization.summarizer import Summarizer, copies, copyings
from tests.applications.untrained import restarted

TEXTS = [
    "",
    "Open the file now.",
    "   ",
    "word " * 5000,
    "👍🎉 👨‍👩‍👧",
    "مرحبا بكم في البرنامج",
    "caf\u00e9 noir",
    "cafe\u0301 noir",
]


@pytest.fixture
def data(config, vocabulary_model):
    return SummarizationData(config, vocabulary_model)


@pytest.fixture
def summarizer(config, data):
    """An untrained copying transformer."""
    model = restarted(Summarization().build_model(config, data))
    return Summarizer(model, data.tokenizer, config)


def test_c41_and_c45_texts_of_every_kind(summarizer):
    answers = summarizer.answers(TEXTS, "greedy")
    texts = [answer.text for answer in answers]
    assert (texts[0], texts[2]) == ("", "")
    assert texts[1] == summarizer([TEXTS[1]], "greedy")[0] != ""
    assert len(answers[3].source) == summarizer.source_length  # its end was cut off
    assert answers[6].source == answers[7].source
    assert texts[6] == texts[7]


def test_c44_a_marker_in_a_text_is_no_marker(summarizer):
    ids = summarizer.encode(tf.constant(["<s> the race will start </s>"])).numpy()[0]
    assert (ids == summarizer.tokenizer.start).sum() == 0
    assert (ids == summarizer.tokenizer.end).sum() == 1


def test_rules_and_limits_of_the_searches(config, summarizer):
    decode = SummaryDecodeConfig(max_length=8, min_length=5, no_repeat_ngram=1)
    strict = Summarizer(
        summarizer.model, summarizer.tokenizer, replace(config, decode=decode)
    )
    for answer in strict.answers(["Open the file now.", "Save all."], "greedy"):
        assert 5 <= len(answer.target) <= 8
        assert len(set(answer.target)) == len(answer.target)
    free = replace(config, decode=SummaryDecodeConfig(no_repeat_ngram=0))
    free = Summarizer(summarizer.model, summarizer.tokenizer, free)
    assert [len(search.rules) for search in free.searches.values()] == [0, 0]


def test_what_is_copied_is_of_the_steps_that_wrote_it(summarizer):
    answers = summarizer.answers(["Open the file now.", "Save."], "greedy")
    assert copies(summarizer.model)
    for answer, seen in zip(answers, copyings(summarizer, answers), strict=True):
        shape = len(answer.target), len(answer.source)
        assert seen.attention.shape == seen.copied.shape == shape
        np.testing.assert_allclose(seen.attention.sum(-1), 1.0, atol=1e-5)
        shares = seen.copied / seen.attention  # one a step: how far it copies
        np.testing.assert_allclose(
            shares, np.broadcast_to(shares[:, :1], shape), rtol=1e-4
        )
        assert ((shares > 0) & (shares < 1)).all()
