import numpy as np
import pytest
import tensorflow as tf

from applications.audio.samples import odd_sounds, wav
from keras_attention.models.sound_classifier import KINDS
from tests.applications.keyword_spotting.conftest import CLASSES, tone


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_answers_as_python_does(make_data, make_classifier, tmp_path, kind):
    """Odd sounds among others, which change no answer."""
    classifier = make_classifier(make_data(), kind)
    files = [wav(tone("low", 1)), *odd_sounds(), wav(tone("high", 2))]
    answer = tf.function(classifier.answer, autograph=False)(tf.constant(files))
    assert np.isfinite(answer["probabilities"]).all()
    paths = []
    for number in (0, len(files) - 1):
        paths.append(tmp_path / f"{number}.wav")
        paths[-1].write_bytes(files[number])
    clips = [classifier.reader.read_file(str(path)) for path in paths]
    expected = tf.nn.softmax(classifier.logits(clips)).numpy()
    found = answer["probabilities"].numpy()[[0, -1]]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    lines = list(classifier.describe([str(path) for path in paths]))
    best = expected.argmax(axis=1)
    assert lines == [
        f"{CLASSES[label]} {row[label]:.2f}"
        for label, row in zip(best, expected, strict=True)
    ]


def test_logits_keep_the_order_of_many_clips(make_data, make_classifier):
    data = make_data(frames=True)
    classifier = make_classifier(data, "temporal_attention")
    clips = data.clips("train").frames[:150]  # more than one batch
    found = classifier.logits(clips)
    rows = [3, 149, 77]
    expected = classifier.logits([clips[row] for row in rows])
    np.testing.assert_allclose(found[rows], expected, atol=1e-5)
    assert classifier.logits([]).shape == (0, 10)
