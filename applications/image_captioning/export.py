"""The SavedModel: files of images in, captions out, decoding inside."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from applications.errors import UserError
from applications.image_captioning.captioner import Captioner
from applications.image_captioning.data import CaptionData
from keras_attention import export as exporting

CHECKED_IMAGES = 100
_TOLERANCE = 1e-3  # of log-probabilities, over other orders of summing


def export(data: CaptionData, model: keras.Model, directory: Path) -> dict[str, Any]:
    """Write the endpoints `greedy` (the default), `beam` and `attention`, and check.

    The last one only for a model with attention. All take `image` `(B,)`, the bytes of
    PNG, JPEG, BMP or GIF files, and return `caption` `(B,)`; the searches also its
    `log_probability`, `attention` the `words` `(B, T)` and where each head looked at
    each, `attention_scores` `(B, N, T, rows, columns)`.

    Returns:
        By how much log-probabilities differ in a fresh process, at most.
    """
    captioner = Captioner(model, data)
    signature = [tf.TensorSpec([None], tf.string, name="image")]
    endpoints = {
        search: (_searching(captioner, search), signature)
        for search in ("greedy", "beam")
    }
    if captioner.has_attention:
        endpoints["attention"] = (captioner.attend, signature)
    exporting.write(directory, endpoints, [model])
    images = data.image_batches("test").unbatch().take(CHECKED_IMAGES)
    files = data.files("test").take(CHECKED_IMAGES)
    contents, pictures = (list(x.as_numpy_iterator()) for x in (files, images))
    return {
        "largest_difference": check(directory, contents, np.stack(pictures), captioner)
    }


def _searching(captioner: Captioner, search: str) -> Callable:
    return lambda contents: captioner.caption(contents, search)


def check(
    directory: Path, contents: list[bytes], images: np.ndarray, captioner: Captioner
) -> dict[str, float]:
    """Compare the SavedModel, alone in a fresh process, with this one.

    It gets the files as they are stored, of any size and with their alpha channel; this
    process the images `(n, h, w, c)` that evaluation makes of them. One image alone is
    among the batches, and all others together.

    Raises:
        UserError: the answers differ.
    """
    batches = [contents[:1], contents[1:]] if len(contents) > 1 else [contents]
    searches = list(captioner.searches)
    looking = ["attention"] if captioner.has_attention else []
    answers = exporting.ask_alone(directory, batches, [*searches, *looking])
    largest = {}
    for search in searches:
        alone, there = (
            list(chain.from_iterable(answer[name] for answer in answers[search]))
            for name in ("caption", "log_probability")
        )
        here = captioner([images], search)
        gaps = np.abs(np.subtract(there, [own.log_probability for own in here]))
        largest[search] = float(gaps.max())
        different = sum(text != own.text for text, own in zip(alone, here, strict=True))
        if different or not largest[search] < _TOLERANCE:
            raise UserError(
                f"The exported {search} endpoint answers otherwise: {different} of "
                f"{len(here)} captions, and log-probabilities that differ by up to "
                f"{largest[search]:.1e}."
            )
        print(f"{search}: SavedModel alone equals this process on {len(here)} images")
    said = [
        [caption for answer in answers[name] for caption in answer["caption"]]
        for name in ("greedy", *looking)
    ]
    if any(captions != said[0] for captions in said):
        raise UserError("The exported attention endpoint has other captions.")
    return largest
