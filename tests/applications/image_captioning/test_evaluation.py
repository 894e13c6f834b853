import numpy as np
import pytest

from applications.image_captioning import evaluation
from applications.image_captioning.data import Example
from applications.text.words import WordVocabulary
from keras_attention import metrics
from keras_attention.metrics import CaptionScore


@pytest.fixture
def without_java(monkeypatch):
    monkeypatch.setattr(metrics, "java_is_present", lambda: False)


@pytest.fixture
def measured(smoke_run):
    """What the smoke run was evaluated to."""
    return smoke_run.results()["evaluate"]["metrics"], smoke_run


@pytest.mark.slow
def test_figures_follow_from_the_captions(measured, data):
    values, run = measured
    rows = evaluation.read_captions(run)
    test = data.examples("test")
    assert [row.key for row in rows] == [one.key for one in test]
    assert [row.references for row in rows] == [one.captions for one in test]
    assert values["images"] == 12
    assert values["concepts"] == 6  # two images of each have the same captions
    references = [row.references for row in rows]
    scores = metrics.caption_scores([row.caption for row in rows], references)
    for name, score in scores.items():
        assert values[name] == pytest.approx(score.value)
    hits = [row.caption in row.references for row in rows]
    assert values["meteor"] == pytest.approx(100 * np.mean(hits))


@pytest.mark.slow
def test_baselines_stand_beside_with_intervals(measured, data):
    values, run = measured
    rows = evaluation.read_captions(run)
    nearest = [row.nearest_training_image for row in rows]
    known = {one.captions[0] for one in data.examples("train")}
    assert set(nearest) <= known
    expected = metrics.caption_scores(nearest, [row.references for row in rows])
    baselines = values["baselines"]
    found = baselines["nearest_training_image"]
    assert found["cider"] == pytest.approx(expected["cider"].value)
    assert "meteor" in found
    usual = baselines["most_frequent_caption"]["caption"]
    assert usual == data.examples("train")[0].captions[0]  # all are as frequent
    for name, baseline in baselines.items():
        gap = values[f"above_{name}"]
        assert gap["value"] == pytest.approx(values["cider"] - baseline["cider"])
        assert gap["low"] <= gap["value"] <= gap["high"]


@pytest.mark.slow
def test_all_words_are_known_and_the_first_reference_is_perfect(measured, data):
    values, _ = measured
    assert values["unknown_words"] == 0
    references = [one.captions for one in data.examples("test")]
    first = metrics.caption_scores([texts[0] for texts in references], references)
    limit = values["first_reference_in_known_words"]["cider"]
    assert limit == pytest.approx(first["cider"].value)
    assert values["cider"] < limit
    assert 1 < values["perplexity_per_word"] < 100
    assert 0 <= values["captions_of_train"] <= 1


@pytest.mark.slow
def test_attention_stands_beside_the_area(measured):
    found = measured[0]["attention_inside_the_object"]
    assert found["images"] == 12
    gap = found["above_area"]
    assert gap["value"] == pytest.approx(found["share"] - found["area"], abs=1e-6)
    assert gap["low"] <= gap["value"] <= gap["high"]
    gap = found["above_mean_map"]
    assert gap["value"] == pytest.approx(found["share"] - found["mean_map"], abs=1e-6)


def test_unknown_words_are_left_out_of_the_best_that_can_be():
    words = WordVocabulary(["a", "cat"])
    test = [Example("1", "x", ("a wild cat", "a cat")), Example("2", "x", ("dog",))]
    assert evaluation._in_known_words(test, words) == ["a cat", ""]
    scored = {
        "first_reference_in_known_words": metrics.caption_scores(
            ["a cat", ""], [one.captions for one in test]
        )
    }
    found = evaluation._limits(
        test, test[:1], {"beam": ["a cat", "cat"]}, scored, words
    )
    assert found["unknown_words"] == pytest.approx(2 / 6)  # wild, dog
    assert found["captions_of_train"] == 0.5


def test_sets_that_are_joined_stand_apart():
    from applications.image_captioning.concepts import Concepts
    from applications.image_captioning.objects import Looks

    test = [Example(str(i), "ab"[i % 2], (f"word {i}",)) for i in range(4)]
    scores = {"cider": CaptionScore(2.5, np.array([1.0, 2, 3, 4]))}
    cut_out = np.array([True, False, True, False])
    looks = Looks(np.ones(4), np.zeros(4), np.ones(4), cut_out)
    concepts = Concepts([one.captions for one in test])
    found = evaluation._by_set(test, {"beam": scores}, looks, concepts)["by_set"]
    assert found["a"]["cider"] == {"beam": 2.0}
    assert found["b"] == {"images": 2, "cider": {"beam": 3.0}}
    assert found["a"]["attention_inside_the_object"]["share"] == 1
    assert evaluation._by_set(test[:1], {"beam": scores}, looks, concepts) == {}


@pytest.mark.usefixtures("without_java")
def test_without_java_there_is_no_meteor():
    assert evaluation._meteor(["a"], [["a"]]) == {}
