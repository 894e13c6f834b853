"""Scores of captions: against the formula of CIDEr, and of degenerate sets."""

import math
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_attention.metrics import (
    bootstrap_difference,
    caption_scores,
    normalized_caption,
)

HYPOTHESES = ["A red car, on the road!", "two dogs", "the cat", "a car a car a car"]
REFERENCES = [
    ["a red car", "A car on a road."],
    ["Two dogs run.", "dogs"],
    ["a dog"],
    ["a car"],
]


def cider_by_the_formula(hypotheses, references):
    """CIDEr-D of every image: equation 3 of the paper, clipped, times 10."""
    references = [[text.split() for text in texts] for texts in references]

    def grams(words, n):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    def weight(gram):
        n = len(gram)
        images = sum(any(gram in grams(r, n) for r in texts) for texts in references)
        return math.log(len(references)) - math.log(max(1, images))

    def vector(words, n):
        return {gram: count * weight(gram) for gram, count in grams(words, n).items()}

    def similarity(one, other, n):
        first, second = vector(one, n), vector(other, n)
        norms = [math.hypot(*v.values()) for v in (first, second)]
        dot = sum(min(first[g], second.get(g, 0)) * second.get(g, 0) for g in first)
        # The reference implementation takes the number of bigrams for the length.
        difference = max(len(one) - 1, 0) - max(len(other) - 1, 0)
        penalty = math.exp(-(difference**2) / (2 * 6**2))
        return penalty * dot / math.prod(norms) if all(norms) else 0

    return [
        10
        * np.mean(
            [
                similarity(text.split(), reference, n)
                for reference in texts
                for n in (1, 2, 3, 4)
            ]
        )
        for text, texts in zip(hypotheses, references, strict=True)
    ]


def normalized(texts):
    return [normalized_caption(text) for text in texts]


def test_cider_is_the_formula():
    found = caption_scores(HYPOTHESES, REFERENCES)["cider"]
    expected = cider_by_the_formula(
        normalized(HYPOTHESES), [normalized(texts) for texts in REFERENCES]
    )
    np.testing.assert_allclose(found.per_image, expected, rtol=1e-9)
    assert found.value == pytest.approx(np.mean(expected))
    assert len({*found.per_image}) == 4  # no two images agree by accident


def test_cider_is_that_of_the_protocol():
    """Pycocoevalcap's own entry point, on the same normalized texts."""
    from pycocoevalcap.cider.cider import Cider

    mean, each = Cider().compute_score(
        {i: normalized(texts) for i, texts in enumerate(REFERENCES)},
        {i: [text] for i, text in enumerate(normalized(HYPOTHESES))},
    )
    found = caption_scores(HYPOTHESES, REFERENCES)["cider"]
    np.testing.assert_allclose(found.per_image, each, rtol=1e-9)
    assert found.value == pytest.approx(mean)


def test_c56_one_image_alone_is_nan_with_a_warning():
    with pytest.warns(UserWarning, match="CIDEr of one image is not defined"):
        found = caption_scores(["a b c d"], [["a b c d"]])
    assert math.isnan(found["cider"].value)
    assert np.isnan(found["cider"].per_image).tolist() == [True]
    assert found["rouge_l"].value == 100


def test_c56_one_image_with_the_frequencies_of_others():
    documents = [["a b c d"], ["e f g h"]]
    found = caption_scores(["a b c d"], [["a b c d"]], documents)
    assert found["cider"].value == pytest.approx(10)


def test_c56_two_images_that_are_right():
    texts = ["a b c d", "e f g h"]
    found = caption_scores(texts, [[text] for text in texts])["cider"]
    assert found.value == pytest.approx(10)
    np.testing.assert_allclose(found.per_image, [10, 10])


def test_documents_are_what_frequencies_are_counted_over():
    whole = caption_scores(HYPOTHESES, REFERENCES)["cider"].per_image
    part = caption_scores(HYPOTHESES[:2], REFERENCES[:2], REFERENCES)["cider"]
    np.testing.assert_allclose(part.per_image, whole[:2])
    alone = caption_scores(HYPOTHESES[:2], REFERENCES[:2])["cider"]
    assert not np.allclose(part.per_image, alone.per_image)


def test_a_caption_without_4_grams_cannot_reach_10():
    found = caption_scores(["a dog", "cat"], [["a dog"], ["cat"]])["cider"]
    np.testing.assert_allclose(found.per_image, [5, 2.5])


def test_bleu_by_hand():
    """4 of 7 words (a, red, car; dog) and 2 of 5 pairs; 7 words against 6."""
    found = caption_scores(
        ["a red car on b", "the dog"], [["a red car"], ["a dog run"]]
    )
    assert found["bleu_1"].value == pytest.approx(100 * 4 / 7, rel=1e-6)
    assert found["bleu_2"].value == pytest.approx(
        100 * math.sqrt(4 / 7 * 2 / 5), rel=1e-6
    )
    assert found["bleu_4"].value == pytest.approx(0, abs=0.1)


def test_bleu_counts_against_the_closest_of_several_references():
    found = caption_scores(["a b c d"], [["a b c d e f", "a b x"]], [["a"], ["b"]])
    # The reference of 3 words is nearer than the one of 6: no brevity penalty.
    assert found["bleu_4"].value == pytest.approx(100, rel=1e-6)


def test_rouge_l_by_hand():
    """Of `a c x` against `a b c d` 2 of 3 and 2 of 4, F with beta 1.2."""
    found = caption_scores(["a c x", "e"], [["a b c d"], ["e", "f"]])["rouge_l"]
    precision, recall, beta = 2 / 3, 2 / 4, 1.2
    first = (1 + beta**2) * precision * recall / (recall + beta**2 * precision)
    np.testing.assert_allclose(found.per_image, [100 * first, 100])
    assert found.value == pytest.approx(50 * (first + 1))


def test_an_empty_caption_scores_zero():
    for score in caption_scores(["", "!"], [["a b c d"], ["e f g h"]]).values():
        assert score.value == 0
        assert score.per_image.tolist() == [0, 0]


def test_nothing_depends_on_the_order_of_images():
    order = [2, 0, 3, 1]
    scores = caption_scores(HYPOTHESES, REFERENCES)
    turned = caption_scores(
        [HYPOTHESES[i] for i in order], [REFERENCES[i] for i in order]
    )
    for name, score in scores.items():
        assert turned[name].value == pytest.approx(score.value)
        np.testing.assert_allclose(turned[name].per_image, score.per_image[order])


def test_cider_of_two_systems_has_an_interval():
    texts = [f"word{i} word{i + 1} word{i + 2} word{i + 3}" for i in range(40)]
    references = [[text] for text in texts]
    good = caption_scores(texts, references)["cider"]
    poor = caption_scores(texts[:20] + texts[:20], references)["cider"]
    found = bootstrap_difference(
        good.per_image[:, None], poor.per_image[:, None], lambda sums: sums[0] / 40
    )
    assert found.value == pytest.approx(good.value - poor.value)
    assert 0 < found.low < found.value < found.high


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A tiger.", "a tiger"),
        ("A woman\u2019s T-shirt", "a woman's t shirt"),
        ("flag: C\u00f4te d'Ivoire", "flag c\u00f4te d'ivoire"),
        ("cafe\u0301", "caf\u00e9"),
        ("'quoted' dogs' \uff21", "quoted dogs a"),
        (" two\nlines\tand _3_ ", "two lines and 3"),
        ("...", ""),
    ],
)
def test_normalized_caption(caption, expected):
    assert normalized_caption(caption) == expected


@given(st.text())
def test_a_normalized_caption_stays_as_it_is(text):
    once = normalized_caption(text)
    assert normalized_caption(once) == once
    assert once == " ".join(once.split())


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        ([], [], "`hypotheses` must have one caption for each of `references`"),
        (["a"], [["a"], ["b"]], "hypotheses=1, references=2"),
        (["a"], ["a"], "Every one of `references` must be a list of captions"),
        (["a"], [[]], "must have a caption with words. Received: image=0"),
        (["a", "b"], [["a"], ["", "!"]], r"image=1, captions=\['', '!'\]"),
    ],
)
def test_refuses_what_cannot_be_scored(hypotheses, references, message):
    with pytest.raises(ValueError, match=message):
        caption_scores(hypotheses, references)


def test_refuses_documents_without_words():
    with pytest.raises(ValueError, match="Every one of `documents`"):
        caption_scores(["a"], [["a"]], documents=[["a"], []])


def test_without_pycocoevalcap_the_extra_is_named(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("pycocoevalcap")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    with pytest.raises(ImportError, match=r"keras-attention\[image-captioning\]"):
        caption_scores(["a"], [["a"]])
