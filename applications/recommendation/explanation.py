"""Pictures of histories, each item shaded by what it did for the next one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from applications.errors import UserError
from applications.pipeline import figures, files
from applications.pipeline.run import Run
from applications.recommendation.attention import falls, shares
from applications.recommendation.data import RecommendationData
from applications.recommendation.deletion import recommended
from applications.recommendation.recommender import Recommender
from keras_attention.interpretation import plots

DELETION = "deletion"

_EXAMPLES = 4
_SHOWN = 30  # items of a history, the last ones: few enough to read


def explain(
    data: RecommendationData,
    model: keras.Model,
    run: Run,
    recommender: Recommender,
    inputs: Sequence[str],
) -> list[Path]:
    """Draw each history's titles once for each measure: attention, heads, deletion.

    Deletion is how far the log-probability of the recommended item falls without the
    item: above 0 what spoke for it. A model without attention has it alone.

    Args:
        data: Gives histories of the test split where there are no inputs.
        model: The run's best model.
        run: Where the figures go.
        recommender: Of the same model.
        inputs: Histories of the user's own, names with commas between.

    Raises:
        UserError: A history is too short, or names an item that is unknown.
    """
    named = _examples(data)
    if inputs:
        histories = [recommender.numbers(text) for text in inputs]
        named = [(f"history-{i}", items) for i, items in enumerate(histories, 1)]
    if any(len(items) < 2 for _, items in named):
        raise UserError("A history needs two items or more to say which one mattered.")
    return [
        figures.save(run, name, _drawn(data, model, items)) for name, items in named
    ]


def _drawn(data: RecommendationData, model: keras.Model, items: np.ndarray) -> Any:
    score, titles = data.scorer(model), data.catalogue.titles
    read = min(len(items), data.config.data.max_length)
    (item,) = recommended(score, [items])
    measures = shares(model, items, item, data.config.data.max_length) or {}
    shown = min(read, _SHOWN, *(len(values) for values in measures.values()))
    places = range(len(items) - shown, len(items))
    measures[DELETION] = falls(score, items, item, places)
    return plots.shaded_text(
        [titles[taken] for taken in items[-shown:]],
        {name: values[-shown:] for name, values in measures.items()},
        f"next: {titles[item]}",
    )


def _examples(data: RecommendationData) -> list[tuple[str, np.ndarray]]:
    """The first test users who took two items or more, as file names, and what."""
    tests = data.held_out("test")
    users = data.interactions.log.histories
    found = [
        (f"user {users[user].user}", items)
        for user, items in zip(tests.users, tests.histories, strict=True)
        if len(items) > 1
    ][:_EXAMPLES]
    names = files.names_after([name for name, _ in found])
    return [(name, items) for name, (_, items) in zip(names, found, strict=True)]
