"""The SavedModel: texts in, labels and probabilities out."""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from applications.classification import answers
from applications.text_classification.classifier import Classifier
from keras_attention import export as exporting

CHECKED_TEXTS = 200

# What users send beside sentences; README says what each becomes.
ODD_TEXTS = (
    "",
    "   ",
    "\N{SMILING FACE WITH OPEN MOUTH} \N{WHITE HEAVY CHECK MARK}",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",  # right to left
    "Cafe\u0301 CAF\u00c9",
    "good " * 5000,
)

_BATCH = 50


def export(classifier: Classifier, directory: Path) -> None:
    """Write the endpoint `classify`, also `serving_default`.

    It takes `text` `(B,)` and returns `label`, its `probability`, and the
    `probabilities` `(B, C)`.
    """
    signature = [tf.TensorSpec([None], tf.string, name="text")]
    exporting.write(
        directory,
        {answers.ENDPOINT: (classifier.answer, signature)},
        [classifier.model, classifier.reader.tokenizer.layer],
    )


def check(directory: Path, texts: Sequence[str], classifier: Classifier) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Raises:
        UserError: The answers differ.
    """
    batches = [[text] for text in ODD_TEXTS] + [list(ODD_TEXTS)]
    batches += [list(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
    flat = [text for batch in batches for text in batch]
    probabilities = classifier.probabilities(flat)
    labels = classifier.labels(flat, probabilities)
    answers.check_alone(directory, batches, labels, probabilities, "texts")
