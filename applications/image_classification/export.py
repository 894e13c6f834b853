"""The SavedModel: files of images in, labels out; LiteRT and ONNX files beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

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
    exporting.write(directory, {"classify": (classifier.answer, signature)}, [model])
    images, _ = data.arrays("test", CHECKED_IMAGES)
    check(directory, images, classifier)
    differences = {}
    for name in config.export.formats:
        path = directory / EXTRA_FILES / f"model.{_SUFFIXES[name]}"
        try:
            _WRITERS[name](model, path)
            differences[name] = _difference(model, path, images)
        except ImportError as error:
            raise UserError(f"{error} Or leave it out: export.formats=") from error
        print(
            f"{name}: logits differ by at most {differences[name]:.1e} in {path.name}"
        )
    return {"largest_difference": differences} if differences else {}


def check(
    directory: Path, images: Sequence[np.ndarray], classifier: Classifier
) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Raises:
        UserError: the answers differ.
    """
    files = [tf.io.encode_png(image).numpy() for image in images]
    batches = [files[:1], files[1:]] if len(files) > 1 else [files]
    answers = exporting.ask_alone(directory, batches, ["classify"])["classify"]
    alone = [one for answer in answers for one in answer["probability"]]
    labels = [one for answer in answers for one in answer["label"]]
    here = classifier.probabilities(np.asarray(images))
    expected = [classifier.class_names[row.argmax()] for row in here]
    largest = float(np.abs(np.array(alone) - here.max(axis=1)).max())
    if labels != expected or largest > _TOLERANCE:
        raise UserError(
            f"The exported model answers otherwise: probabilities differ by up to "
            f"{largest:.1e}, {sum(map(str.__ne__, labels, expected))} of {len(files)} "
            "labels."
        )
    print(f"classify: SavedModel alone equals this process on {len(files)} images")


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
