"""Pictures of what each word of a summary looked at and was copied from."""

from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np

from applications.pipeline import files
from applications.pipeline.run import Run
from applications.summarization.data import SummarizationData
from applications.summarization.presets import SummarizationConfig
from applications.summarization.summarizer import Summarizer, copies, copyings
from applications.text import pictures
from applications.text.alignment import Alignment, alignments
from keras_attention.interpretation import plots, word_scores, words

_WORDS = range(25, 50)  # of a text whose picture can be read


def explain(
    config: SummarizationConfig,
    data: SummarizationData,
    model: keras.Model,
    run: Run,
    inputs: Sequence[str],
) -> list[Path]:
    """Draw two pictures for each text.

    The text once for each word of its summary, shaded by attention and, of a model that
    copies, by the probability of having copied each word; and the heads of the last
    decoder layer, each in a panel. Of a model that does not copy the shades are the
    mean of those heads.

    Args:
        config: The run's config.
        data: Its data, for examples of the test split where no inputs are given.
        model: Its best model.
        run: Where the figures go.
        inputs: Texts of the user's own.
    """
    pictures.require_something_to_show(model, inputs)
    texts = list(inputs) or pictures.examples(data.sentences("test")[0], _is_readable)
    summarizer = Summarizer(model, data.tokenizer, config)
    answers = summarizer.answers(texts)
    found = list(alignments(summarizer, answers))
    shades: list[dict[str, np.ndarray]] = [
        {"attention": _last(alignment).mean(axis=0)} for alignment in found
    ]
    if copies(model):
        shades = [
            {"attention": seen.attention, "copied": seen.copied}
            for seen in copyings(summarizer, answers)
        ]
    figures = []
    names = files.names_after(texts)
    for text, name, alignment, steps in zip(texts, names, found, shades, strict=True):
        figures.append(pictures.save(run, f"{name}.png", shaded(alignment, steps)))
        last = [list(alignment.scores)[-1]]
        figures += pictures.draw_heads(run, name, text, alignment, last)
    return figures


def shaded(alignment: Alignment, steps: dict[str, np.ndarray]):
    """The picture of one text, its subwords put together to words.

    Args:
        alignment: Has the subwords of both sides.
        steps: `(T, S)` by name. Over the subwords of a source word they are summed,
            over those of a word of the summary their mean is taken.
    """
    source, target = words(alignment.source), words(alignment.target)
    by_word = {
        name: np.stack(
            [
                word_scores(values, source)[word.start : word.stop].mean(axis=0)
                for word in target
            ]
        )
        for name, values in steps.items()
    }
    return plots.shaded_steps(
        [_spelled(alignment.source, word) for word in source],
        [_spelled(alignment.target, word) for word in target],
        by_word,
    )


def _spelled(pieces: Sequence[str], word) -> str:
    """A word with the punctuation around it."""
    return "".join(pieces[word.start : word.stop]).replace("▁", "") or " "


def _last(alignment: Alignment) -> np.ndarray:
    """Scores `(N, T, S)` of the last decoder layer."""
    return list(alignment.scores.values())[-1]


def _is_readable(text: str) -> bool:
    return len(text.split()) in _WORDS
