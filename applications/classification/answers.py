"""What a classifier answers: in the graph, in words, and alone as a SavedModel."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from applications.errors import UserError
from keras_attention import export as exporting

ENDPOINT = "classify"

_TOLERANCE = 1e-3  # of probabilities in float32, over other orders of summing


def answer(logits: tf.Tensor, class_names: Sequence[str]) -> dict[str, tf.Tensor]:
    """What is said of logits `(B, C)`, inside the graph.

    Returns:
        `label` and `probability` `(B,)` of the likeliest class, and the
        `probabilities` `(B, C)` of all.
    """
    probabilities = tf.nn.softmax(logits)
    best = tf.argmax(probabilities, axis=-1)
    return {
        "label": tf.gather(tf.constant(class_names), best),
        "probability": tf.reduce_max(probabilities, axis=-1),
        "probabilities": probabilities,
    }


def said(probabilities: np.ndarray, class_names: Sequence[str]) -> list[str]:
    """The label of each row and its probability, such as `Sneaker 0.97`."""
    best = probabilities.argmax(axis=1)
    return [
        f"{class_names[label]} {row[label]:.2f}"
        for label, row in zip(best, probabilities, strict=True)
    ]


def check_alone(
    directory: Path,
    batches: Sequence[Sequence[str | bytes] | Mapping[str, np.ndarray]],
    labels: Sequence[str],
    probabilities: np.ndarray,
    examples: str,
) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Args:
        directory: The SavedModel.
        batches: Its inputs, a list for each call, or arrays by name.
        labels: What is said of them here, `(n,)`.
        probabilities: Of all classes, here, `(n, C)`.
        examples: What inputs are called: `"images"`.

    Raises:
        UserError: The answers differ.
    """
    answers = exporting.ask_alone(directory, batches, [ENDPOINT])[ENDPOINT]
    there, alone = (
        np.array([one for found in answers for one in found[name]])
        for name in ("label", "probability")
    )
    here = np.sort(probabilities, axis=1)
    largest = float(np.abs(alone - here[:, -1]).max())
    certain = here[:, -1] - here[:, -2] > _TOLERANCE  # else either may come first
    different = int((there != np.asarray(labels))[certain].sum())
    if different or not largest < _TOLERANCE:
        raise UserError(
            f"The exported model answers otherwise: probabilities differ by up to "
            f"{largest:.1e}, {different} of {len(here)} labels."
        )
    print(f"{ENDPOINT}: SavedModel alone equals this process on {len(here)} {examples}")
