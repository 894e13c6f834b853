"""What is said without a decoder: the usual caption, or that of a similar image."""

from collections import Counter
from collections.abc import Iterable, Sequence

import keras
import numpy as np
import tensorflow as tf

from applications.image_captioning.data import CaptionData, Example

_AT_ONCE = 1024  # test images whose distances to all training images are in memory


def most_frequent(training: Sequence[Example]) -> str:
    """The caption that most training images have, of equal ones the first."""
    counts = Counter(text for example in training for text in example.captions)
    return counts.most_common(1)[0][0]


def nearest(
    model: keras.Model, data: CaptionData, training: Sequence[Example]
) -> list[str]:
    """For each test image the first caption of the nearest training image.

    Near is what the encoder takes for alike: by the cosine between the means of its
    features over all places.
    """
    known = features(model, data.image_batches("train"))
    asked = features(model, data.image_batches("test"))
    best = [
        (asked[start : start + _AT_ONCE] @ known.T).argmax(axis=1)
        for start in range(0, len(asked), _AT_ONCE)
    ]
    return [training[number].captions[0] for number in np.concatenate(best)]


def features(model: keras.Model, batches: Iterable[tf.Tensor]) -> np.ndarray:
    """Unit vectors `(n, D)` of the images of batches `(B, h, w, c)`."""

    @tf.function(reduce_retracing=True)
    def mean(images: tf.Tensor) -> tf.Tensor:
        places = model.encoder(tf.cast(images, tf.float32), training=False)
        return tf.reduce_mean(tf.cast(places, tf.float32), axis=1)

    found = np.concatenate([mean(images).numpy() for images in batches])
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
