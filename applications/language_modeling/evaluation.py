"""How well a run knows its test text, beside what counting reaches."""

from collections.abc import Callable
from typing import Any

import keras

from applications.language_modeling import causal_evaluation, filling_evaluation
from applications.language_modeling.data import LanguageData
from applications.pipeline.run import Run

EVALUATIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "causal": causal_evaluation.evaluate,
    "masked": filling_evaluation.masked,
    "span_corruption": filling_evaluation.restored,
    "denoising": filling_evaluation.restored,
}


def evaluate(data: LanguageData, model: keras.Model, run: Run) -> dict[str, Any]:
    """Metrics of the run's objective over the whole test split."""
    own = run.config(type(data.config))
    learned = LanguageData(own, data.vocabulary)
    measured = EVALUATIONS[data.config.train.objective](data, learned, model, run)
    return {**measured, "parameters": model.count_params()}
