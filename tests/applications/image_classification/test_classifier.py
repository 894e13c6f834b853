import numpy as np
import tensorflow as tf

from applications.image_classification.classifier import Classifier
from tests.applications.image_classification.conftest import CLASSES, transformer


def test_the_graph_answers_as_python_does(data, digits):
    """Files through the graph of the SavedModel, and through the data pipeline."""
    classifier = Classifier(transformer(), data)
    paths = sorted(digits.glob("*/1*0.png"))
    pixels = np.stack([classifier.reader.read_file(path) for path in paths])
    expected = classifier.probabilities(pixels)
    contents = tf.constant([path.read_bytes() for path in paths])
    answer = tf.function(classifier.answer)(contents)
    probabilities = answer["probabilities"].numpy()
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    labels = [label.decode() for label in answer["label"].numpy()]
    assert labels == [CLASSES[row.argmax()] for row in expected]
    np.testing.assert_array_equal(answer["probability"], probabilities.max(axis=1))
    lines = list(classifier.describe([str(path) for path in paths[:2]]))
    assert lines == [f"{labels[i]} {expected[i].max():.2f}" for i in range(2)]


def test_a_file_is_what_training_sees(data, digits):
    """The same pixels from `predict` and from the prepared set."""
    classifier = Classifier(transformer(), data)
    images, labels = data.arrays("test")
    label = np.bincount(labels).argmax()
    seen = {image.tobytes() for image in images[labels == label]}
    paths = (digits / CLASSES[label]).glob("*.png")
    found = {classifier.reader.read_file(path).tobytes() for path in paths}
    assert len(found) > len(seen) > 3
    assert seen <= found
