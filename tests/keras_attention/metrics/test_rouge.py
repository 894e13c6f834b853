import numpy as np
import pytest

from keras_attention.metrics import rouge, rouge_difference, rouge_tokens

pytest.importorskip("rouge_score", reason="rouge-score is not installed here")


def values(hypothesis, reference):
    return {
        name: score.value for name, score in rouge([hypothesis], [reference]).items()
    }


def test_by_hand():
    """Lin's own example: police killed the gunman."""
    found = values("police kill the gunman", "police killed the gunman")
    assert found == {"rouge_1": 0.75, "rouge_2": pytest.approx(1 / 3), "rouge_l": 0.75}
    found = values("the gunman kill police", "police killed the gunman")
    assert found["rouge_1"] == 0.75
    assert found["rouge_l"] == 0.5  # order counts


def test_the_set_is_the_mean_of_its_texts():
    hypotheses, references = ["a b", "a x", ""], ["a b", "a b", "a b"]
    found = rouge(hypotheses, references)
    for name, score in found.items():
        alone = [
            values(*pair)[name] for pair in zip(hypotheses, references, strict=True)
        ]
        np.testing.assert_array_equal(score.per_text, alone)
        assert score.value == pytest.approx(np.mean(alone))


@pytest.mark.parametrize(
    ("hypothesis", "reference"), [("", "a b c d e"), ("a b", ""), ("", ""), ("?", "a")]
)
def test_c47_empty_text_scores_zero(hypothesis, reference):
    assert set(values(hypothesis, reference).values()) == {0.0}


def test_c47_an_empty_text_inside_a_set_counts():
    score = rouge(["a b c", ""], ["a b c", "a b c"])["rouge_l"]
    assert score.value == 0.5


@pytest.mark.parametrize(
    "text",
    ["кошка сидит", "猫坐在垫子上今天", "สวัสดีครับ", "हिन्दी भाषा", "مرحبا بكم", "👍 🎉"],
)
def test_c48_equal_texts_of_every_script_score_one(text):
    assert set(values(text, text).values()) == {1.0}


def test_c48_words_count_in_every_script():
    found = values("кошка сидит на коврике", "кошка лежит на коврике")
    assert (found["rouge_1"], found["rouge_l"]) == (0.75, 0.75)
    found = values("猫坐在垫子上", "猫睡在垫子上")
    assert found["rouge_1"] == pytest.approx(5 / 6)


def test_c43_capitals_are_lowered_in_every_script():
    assert rouge_tokens("ÉCOLE École école Яя ÇA") == [
        *["école"] * 3,
        "яя",
        "ça",
    ]


def test_c44_punctuation_of_every_language_is_left_out():
    assert rouge_tokens("¿Qué pasa? “hola” — sí…") == ["qué", "pasa", "hola", "sí"]


def test_c45_composed_and_decomposed_are_one():
    assert rouge_tokens("cafe\u0301") == rouge_tokens("caf\u00e9") == ["café"]
    assert values("cafe\u0301 noir", "caf\u00e9 noir")["rouge_2"] == 1.0


def test_marks_stay_with_their_letter():
    assert rouge_tokens("हिन्दी") == ["हिन्दी"]
    assert rouge_tokens("สวัสดี") == ["ส", "วั", "ส", "ดี"]
    assert rouge_tokens("a!\u0301b") == ["a", "\u0301b"]  # a mark of no letter


@pytest.mark.parametrize(
    "text", ["Don't stop: T-shirt_2, C++ (v1.0)!", "a\tb\n c", "", "...", "MP3s @ 5%"]
)
def test_ascii_tokens_are_those_of_rouge_score(text):
    from rouge_score.tokenizers import DefaultTokenizer

    assert rouge_tokens(text) == DefaultTokenizer(use_stemmer=False).tokenize(text)


def test_difference_of_two_systems():
    references = [f"word{i} one two three" for i in range(40)]
    good = rouge(references, references)["rouge_1"]
    poor = rouge(["one two"] * 40, references)["rouge_1"]
    found = rouge_difference(good, poor)
    assert found.value == pytest.approx(good.value - poor.value)
    assert found.low == pytest.approx(found.high)  # every text has the same gap
    assert tuple(rouge_difference(good, good)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("hypotheses", "references"), [([], []), (["a"], ["a", "b"])])
def test_texts_that_are_not_equally_many(hypotheses, references):
    with pytest.raises(ValueError, match="must be equally many texts"):
        rouge(hypotheses, references)
