"""BLEU of a corpus, of empty texts, and by length."""

import pytest

from keras_attention.metrics import bleu, bleu_by_length

C46_REFERENCES = ["the cat sat on the mat today", "there is a dog in the garden now"]
C46_HYPOTHESES = ["the cat sat on the mat today", "there is dog"]
FULL = "the cat sat on the mat today"


def test_c46_corpus_score_is_no_mean_of_sentence_scores():
    """The whole corpus goes in at once, so no split into batches can matter."""
    score = bleu(C46_HYPOTHESES, C46_REFERENCES)
    assert score.value == pytest.approx(56.0479, abs=1e-4)
    pairs = zip(C46_HYPOTHESES, C46_REFERENCES, strict=True)
    sentences = [bleu([one], [other]).value for one, other in pairs]
    assert abs(sum(sentences) / 2 - score.value) > 3


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_c46_order_does_not_matter(order):
    hypotheses = [C46_HYPOTHESES[index] for index in order]
    references = [C46_REFERENCES[index] for index in order]
    assert bleu(hypotheses, references).value == pytest.approx(56.0479, abs=1e-4)


@pytest.mark.parametrize(
    ("hypothesis", "reference"), [("", "a b c d e"), ("a b", ""), ("", ""), (" ", " ")]
)
def test_c47_empty_text_scores_zero(hypothesis, reference):
    assert bleu([hypothesis], [reference]).value == 0


def test_c47_an_empty_hypothesis_counts_its_reference():
    """7 of 12 words: precision 1, brevity penalty exp(1 - 12 / 7)."""
    score = bleu([FULL, ""], [FULL, "a b c d e"])
    assert score.value == pytest.approx(48.9542, abs=1e-4)


def test_c47_a_blank_reference_counts_its_hypothesis():
    """Precisions 7/9, 6/7, 5/5, 4/4, no brevity penalty: their geometric mean."""
    score = bleu([FULL, "a b"], [FULL, ""])
    assert score.value == pytest.approx(100 * (7 / 9 * 6 / 7) ** 0.25, abs=1e-4)


def test_signature_names_the_settings():
    signature = bleu([FULL], [FULL]).signature
    assert signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_by_length_puts_each_pair_in_its_bucket():
    sources = ["x " * words for words in (1, 9, 10, 19, 40)]
    references = [FULL] * 5
    hypotheses = [FULL, FULL, "", "no word of it", FULL]
    buckets = bleu_by_length(sources, hypotheses, references, edges=(10, 20, 30))
    assert [(one.shortest, one.limit, one.count) for one in buckets] == [
        (0, 10, 2),
        (10, 20, 2),
        (20, 30, 0),
        (30, None, 1),
    ]
    assert buckets[0].bleu.value == pytest.approx(100)
    assert buckets[1].bleu.value < 1
    assert buckets[2].bleu is None
    assert buckets[3].bleu.value == pytest.approx(100)


@pytest.mark.parametrize("edges", [(10, 10), (20, 10), (0, 5)])
def test_by_length_refuses_edges_that_do_not_rise(edges):
    with pytest.raises(ValueError, match="`edges` must rise"):
        bleu_by_length(["a"], ["a"], ["a"], edges=edges)


def test_refuses_an_empty_corpus():
    with pytest.raises(ValueError, match="at least one"):
        bleu([], [])
