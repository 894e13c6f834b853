"""Scores of a corpus and the checks of its texts."""

import pytest

from keras_attention.metrics.score import Score, check_texts, corpus_score


class Metric:
    """Counts equal texts; the interface of sacreBLEU's metrics."""

    def corpus_score(self, hypotheses, references):
        pairs = zip(hypotheses, *references, strict=True)
        self.score = sum(one == other for one, other in pairs)
        return self

    def get_signature(self):
        return "equal"


def test_hands_all_texts_over_at_once():
    score = corpus_score(Metric(), ("a", "b", "c"), ("a", "x", "c"))
    assert score == Score(2.0, "equal")
    assert isinstance(score.value, float)


@pytest.mark.parametrize("texts", [([], []), (["a"], []), (["a"], ["b", "c"])])
def test_refuses_texts_that_do_not_pair(texts):
    with pytest.raises(ValueError, match=r"`hypotheses` and `references` must be"):
        check_texts(hypotheses=texts[0], references=texts[1])
