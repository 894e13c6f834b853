"""METEOR where Java is, and one line where it is not."""

import keras
import numpy as np
import pytest

from keras_attention.metrics import java_is_present, meteor

HYPOTHESES = ["A red car on the road.", "", "a dog is running"]
REFERENCES = [["a red car on the road", "a car"], ["a cat"], ["a dog runs"]]


@pytest.mark.slow
@pytest.mark.skipif(not java_is_present(), reason="METEOR runs in Java")
@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="Java sees no backend: once will do"
)
def test_equal_words_score_full_and_stems_count():
    found = meteor(HYPOTHESES, REFERENCES)
    assert found.per_image.shape == (3,)
    assert found.per_image[0] == pytest.approx(100)
    assert found.per_image[1] == 0
    assert 40 < found.per_image[2] < 100  # `running` is a form of `runs`
    assert 0 < found.value < 100
    assert not np.isclose(found.value, found.per_image.mean())


def test_without_java_it_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert not java_is_present()
    with pytest.raises(ValueError, match="`meteor` needs `java` on this machine"):
        meteor(HYPOTHESES, REFERENCES)


def test_refuses_an_image_without_references():
    with pytest.raises(ValueError, match="must have a caption with words"):
        meteor(["a"], [[]])
