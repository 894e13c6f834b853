"""chrF of a corpus and of empty texts."""

import pytest

from keras_attention.metrics import chrf

FULL = "the cat sat on the mat today"


def test_equal_texts_score_100_in_any_script():
    for text in (FULL, "кошка сидит", "猫坐在垫子上今天"):
        assert chrf([text], [text]).value == pytest.approx(100)


def test_rewards_a_wrong_ending():
    close, far = chrf(["the cats"], ["the cat"]), chrf(["a dog"], ["the cat"])
    assert close.value > 60 > far.value


@pytest.mark.parametrize(
    ("hypothesis", "reference"), [("", "a b c d e"), ("a b", ""), ("", "")]
)
def test_c47_empty_text_scores_zero(hypothesis, reference):
    assert chrf([hypothesis], [reference]).value == 0


def test_c47_empty_text_inside_a_corpus():
    """An unanswered reference lowers recall; an answer to a blank one is left out."""
    assert 0 < chrf([FULL, ""], [FULL, "a b c d e"]).value < 100
    assert chrf([FULL, "a b"], [FULL, ""]).value == pytest.approx(100)


def test_signature_names_the_settings():
    signature = chrf([FULL], [FULL]).signature
    assert signature.startswith(
        "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:"
    )
