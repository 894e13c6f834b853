"""Pictures of texts, shaded by what their words are given."""

from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np

from applications.errors import UserError
from applications.pipeline import figures, files
from applications.pipeline.run import Run
from applications.text_classification.classifier import Classifier
from applications.text_classification.data import TextData
from applications.text_classification.word_measures import explained
from keras_attention.interpretation import plots

_EXAMPLES = 4
_WORDS = range(8, 30)  # long enough to choose from, short enough to read


def explain(
    data: TextData, model: keras.Model, run: Run, inputs: Sequence[str]
) -> list[Path]:
    """Draw each text once for each measure: attention, gradient x input, occlusion.

    Args:
        data: Gives examples of the test split where there are no inputs.
        model: The run's best model.
        run: Where the figures go.
        inputs: Texts of the user's own.
    """
    if inputs and not data.reader.readable(inputs).all():
        raise UserError("A blank text has nothing to show. Give a sentence.")
    texts, truths = list(inputs), [""] * len(inputs)
    if not texts:
        texts, truths = _examples(data)
    said = Classifier(model, data.reader, data.class_names).describe(texts)
    paths = []
    for one, name, line, truth in zip(
        explained(model, data.reader, texts),
        files.names_after(texts),
        said,
        truths,
        strict=True,
    ):
        title = f"{line} (label: {truth})" if truth else line
        figure = plots.shaded_text(one.words, one.measures, title)
        paths.append(figures.save(run, name, figure))
    return paths


def _examples(data: TextData) -> tuple[list[str], list[str]]:
    """The first test texts of readable length, and the names of their classes."""
    texts, labels = data.texts("test")
    readable = np.flatnonzero(data.reader.readable(texts))
    fitting = [row for row in readable if len(texts[row].split()) in _WORDS]
    rows = (fitting or readable)[:_EXAMPLES]
    return [texts[i] for i in rows], [data.class_names[labels[i]] for i in rows]
