"""Pictures of what each step of a translation looked at."""

import re
from collections.abc import Sequence
from pathlib import Path

import keras

from applications.errors import UserError
from applications.pipeline import files
from applications.pipeline.run import Run
from applications.translation.alignment import alignments
from applications.translation.data import TranslationData
from applications.translation.export import has_attention
from applications.translation.presets import TranslationConfig
from applications.translation.translator import Translator
from keras_attention.interpretation import plots

_EXAMPLES = 3
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
    if not has_attention(model):
        raise UserError("A model without attention has nothing to show.")
    if not all(text.strip() for text in inputs):
        raise UserError("A blank text has nothing to show. Give a sentence.")
    texts = list(inputs) or _examples(data)
    translator = Translator(model, data.tokenizer, config)
    figures = []
    names = _file_names(texts)
    found = alignments(translator, translator.answers(texts))
    for text, name, alignment in zip(texts, names, found, strict=True):
        for layer, scores in alignment.scores.items():
            title = f"{_shown(text)} ({layer.replace('_', ' ')})"
            figure = plots.head_panels(
                scores, alignment.target, alignment.source, title
            )
            path = run.path("figures", f"{name}-{layer}.png")
            with files.replacing(path) as temporary:
                plots.save(figure, temporary)
            figures.append(path)
    return figures


def _examples(data: TranslationData) -> list[str]:
    """The first test sentences of readable length."""
    sources, _ = data.sentences("test")
    readable = [text for text in sources if len(text.split()) in _WORDS]
    return (readable or sources)[:_EXAMPLES]


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def _file_names(texts: Sequence[str]) -> list[str]:
    """A file name for each text, of its letters and digits; numbered where alike."""
    names: list[str] = []
    for text in texts:
        name = re.sub(r"\W+", "-", text.lower()).strip("-")[:40].strip("-") or "signs"
        alike = sum(1 for other in names if re.fullmatch(rf"{name}(-\d+)?", other))
        names.append(f"{name}-{alike + 1}" if alike else name)
    return names
