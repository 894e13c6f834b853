"""The SavedModel: files of images in, labels out; LiteRT and ONNX files beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from applications.classification import answers
from applications.errors import UserError
from applications.image_classification.classifier import Classifier
from applications.image_classification.presets import ImageClassificationConfig
from applications.images.batches import ImageData
from keras_attention import export as exporting

CHECKED_IMAGES = 100
EXTRA_FILES = "assets.extra"  # TensorFlow leaves this folder of a SavedModel to users

_WRITERS = {"litert": exporting.write_litert, "onnx": exporting.write_onnx}
_SUFFIXES = {"litert": "tflite", "onnx": "onnx"}
_TOLERANCE = 1e-3  # of logits in float32, over other orders of summing


def export(
    config: ImageClassificationConfig,
    data: ImageData,
    model: keras.Model,
    directory: Path,
) -> dict[str, Any]:
    """Write the SavedModel and the formats that the config names, and check them.

    The endpoint `classify`, also `serving_default`, takes `image` `(B,)`, the bytes of
    PNG, JPEG, BMP or GIF files, and returns `label`, its `probability`, and the
    `probabilities` `(B, classes)`. The other files take pixels `(B, h, w, c)`, 0..255,
    and give logits.

    Returns:
        For each format, by how much its logits differ from the model's at most.
    """
    classifier = Classifier(model, data)
    signature = [tf.TensorSpec([None], tf.string, name="image")]
    endpoints = {answers.ENDPOINT: (classifier.answer, signature)}
    exporting.write(directory, endpoints, [model])
    images, _ = data.arrays("test", CHECKED_IMAGES)
    check(directory, images, classifier)
    return _other_formats(config.export.formats, model, directory / EXTRA_FILES, images)


def _other_formats(
    formats: Sequence[str], model: keras.Model, folder: Path, images: np.ndarray
) -> dict[str, Any]:
    """Write them from a model in float32, which is what they know."""
    model = exporting.in_float32(model)
    found = {}
    for name in formats:
        path = folder / f"model.{_SUFFIXES[name]}"
        try:
            _WRITERS[name](model, path)
            found[name] = _difference(model, path, images)
        except (ImportError, ValueError) as error:
            others = ",".join(one for one in formats if one != name)
            raise UserError(
                f"{error} Or leave it out: export.formats={others}"
            ) from error
        print(f"{path.name}: its logits differ by at most {found[name]:.1e}")
    return {"largest_difference": found} if found else {}


def check(
    directory: Path, images: Sequence[np.ndarray], classifier: Classifier
) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Raises:
        UserError: the answers differ.
    """
    files = [tf.io.encode_png(image).numpy() for image in images]
    batches = [files[:1], files[1:]] if len(files) > 1 else [files]
    probabilities = classifier.probabilities(np.asarray(images))
    labels = [classifier.class_names[best] for best in probabilities.argmax(axis=1)]
    answers.check_alone(directory, batches, labels, probabilities, "images")


def _difference(model: keras.Model, path: Path, images: np.ndarray) -> float:
    """Over batches of two sizes."""
    batches = [batch.astype("float32") for batch in (images[:1], images)]
    worst = max(
        exporting.largest_difference(model, path, {"images": batch})
        for batch in batches
    )
    if not worst < _TOLERANCE:
        raise UserError(
            f"The logits of {path.name} differ from the model's by up to {worst:.1e}."
        )
    return worst
