import numpy as np
import pytest

from applications.speech_recognition.alignment import (
    CTC,
    alignments,
    diagonalities,
    head,
)

RANDOM = np.random.default_rng(0)
CLIPS = [RANDOM.normal(size=(n, 20)).astype("float32") for n in (41, 80, 5)]
TEXTS = ["ab", "a cd bb", ""]


def test_every_head_and_ctc_for_every_character(make_data, make_recognizer):
    recognizer = make_recognizer(make_data())
    found = list(alignments(recognizer, CLIPS, TEXTS))
    assert len(found) == 3
    for parts, clip, text in zip(found, CLIPS, TEXTS, strict=True):
        assert list(parts) == [head(0), head(1), CTC]
        for values in parts.values():
            assert values.shape == (len(text), -(-len(clip) // 4))
        for number in range(2):
            np.testing.assert_allclose(parts[head(number)].sum(axis=1), 1, atol=1e-5)
        assert (parts[CTC].sum(axis=1) >= 1 - 1e-6).all()
    # A clip alone is aligned as among others.
    (alone,) = alignments(recognizer, CLIPS[:1], TEXTS[:1])
    for name, values in alone.items():
        np.testing.assert_allclose(values, found[0][name], atol=1e-4)


def test_what_cannot_fit_has_no_alignment_by_ctc(make_data, make_recognizer):
    recognizer = make_recognizer(make_data(objective="ctc"))
    found = list(alignments(recognizer, CLIPS[2:], ["aa"]))
    assert found == [{}]  # two places, and three are needed
    assert diagonalities(recognizer, CLIPS[2:], ["aa"]) == {}
    assert diagonalities(recognizer, CLIPS, ["", "a", ""]) == {}


@pytest.mark.parametrize("objective", ["ctc", "attention"])
def test_means_over_clips(make_data, make_recognizer, objective):
    recognizer = make_recognizer(make_data(objective=objective))
    found = diagonalities(recognizer, CLIPS, TEXTS)
    expected = {"ctc": {CTC, "even"}, "attention": {head(0), head(1), "even"}}
    assert set(found) == expected[objective]
    assert 0.4 < found["even"] < 0.65
    assert all(0 < value <= 1 for value in found.values())
