"""Pictures of what each step of a translation looked at."""

from collections.abc import Sequence
from pathlib import Path

import keras

from applications.pipeline import files
from applications.pipeline.run import Run
from applications.text import pictures
from applications.text.alignment import alignments
from applications.translation.data import TranslationData
from applications.translation.presets import TranslationConfig
from applications.translation.translator import Translator

_WORDS = range(6, 13)  # long enough to show an order, short enough to read


def explain(
    config: TranslationConfig,
    data: TranslationData,
    model: keras.Model,
    run: Run,
    inputs: Sequence[str],
) -> list[Path]:
    """Draw a heatmap source x target for each decoder layer, a panel per head.

    Args:
        config: The run's config.
        data: Its data, for examples of the test split where no inputs are given.
        model: Its best model.
        run: Where the figures go.
        inputs: Sentences of the user's own.
    """
    pictures.require_something_to_show(model, inputs)
    texts = list(inputs) or pictures.examples(data.sentences("test")[0], _is_readable)
    translator = Translator(model, data.tokenizer, config)
    figures = []
    names = files.names_after(texts)
    found = alignments(translator, translator.answers(texts))
    for text, name, alignment in zip(texts, names, found, strict=True):
        figures += pictures.draw_heads(run, name, text, alignment, alignment.scores)
    return figures


def _is_readable(text: str) -> bool:
    return len(text.split()) in _WORDS
