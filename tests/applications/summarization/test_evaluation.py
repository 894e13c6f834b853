import pytest

from applications.summarization.evaluation import (
    lead_words,
    read_summaries,
    words_from_source,
)
from keras_attention import metrics
from tests.applications.summarization.conftest import SMOKE


def test_lead_words():
    assert lead_words(["one two  three four", "", "one"], 3) == [
        "one two three",
        "",
        "one",
    ]


def test_words_from_source():
    assert words_from_source(["a new Car", ""], ["A car.", "x"]) == pytest.approx(2 / 3)
    assert words_from_source([""], ["a"]) == 0.0


@pytest.mark.slow
def test_numbers_are_those_of_the_written_summaries(smoke_run):
    measured = smoke_run.metrics()["evaluate"][-1]["metrics"]
    sources, references, summaries = read_summaries(smoke_run)
    assert len(sources) == measured["texts"] <= SMOKE.data.test_limit
    found = metrics.rouge(summaries, references)
    lead = metrics.rouge(lead_words(sources), references)
    for name in ("rouge_1", "rouge_2", "rouge_l"):
        assert measured[name] == found[name].value
        assert measured["lead_10_words"][name] == lead[name].value
    gap = measured["rouge_l_above_lead_10_words"]
    expected = metrics.rouge_difference(found["rouge_l"], lead["rouge_l"])
    assert tuple(gap.values()) == tuple(expected)
    assert measured["protocol"]["search"] == (
        "beam 2, length penalty 1, 1 to 12 subwords, no 3-gram twice"
    )
    assert 0 <= measured["texts_cut"] <= len(sources)
    assert 0 <= measured["padding_waste"] < 1
    assert measured["perplexity_per_subword"] > 1
    assert measured["words_from_source_of_references"] == 1.0  # of this file
