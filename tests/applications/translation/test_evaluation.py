import csv
import math

import pytest

from applications.translation.evaluation import read_translations
from keras_attention import metrics
from tests.applications.translation.conftest import SMOKE

pytestmark = pytest.mark.slow


@pytest.fixture
def measured(smoke_run):
    return smoke_run.metrics()["evaluate"][-1]["metrics"]


def test_numbers_are_those_of_the_written_translations(smoke_run, measured):
    sources, references, translations = read_translations(smoke_run)
    assert len(sources) == measured["sentences"] == SMOKE.data.test_limit
    assert measured["bleu"] == metrics.bleu(translations, references).value
    assert measured["chrf"] == metrics.chrf(translations, references).value
    copied = measured["copy_source"]
    assert copied["bleu"] == metrics.bleu(sources, references).value
    assert copied["chrf"] == metrics.chrf(sources, references).value


def test_protocol_says_how_it_was_measured(measured):
    protocol = measured["protocol"]
    assert protocol["search"] == "beam 2, length penalty 1"
    assert "tok:13a" in protocol["bleu_signature"]
    assert "chrF2" in protocol["chrf_signature"] or "nc:6" in protocol["chrf_signature"]


def test_lengths_cover_all_sentences(measured):
    buckets = measured["bleu_by_source_words"].values()
    assert sum(bucket["sentences"] for bucket in buckets) == measured["sentences"]
    for bucket in buckets:
        assert (bucket["bleu"] is None) == (bucket["sentences"] == 0)


def test_perplexity_and_padding_are_numbers(measured):
    assert 1 < measured["perplexity_per_subword"] < math.inf
    assert 0 <= measured["padding_waste"] < 1


def test_translations_are_a_table_that_reads_back(smoke_run):
    with open(smoke_run.path("translations.tsv"), encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    assert header == ["source", "reference", "translation"]
    assert [
        list(row) for row in zip(*read_translations(smoke_run), strict=True)
    ] == rows
