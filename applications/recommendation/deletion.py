"""Does what was attended matter? The most attended item is left out, or another."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from applications.recommendation.attention import ATTENTION, falls, shares
from applications.recommendation.data import RecommendationData
from applications.recommendation.presets import RecommendationConfig
from applications.recommendation.ranking import taken
from applications.recommendation.scorer import Score
from applications.recommendation.scores import difference, over_users
from keras_attention import metrics


def deletion_test(
    config: RecommendationConfig, data: RecommendationData, model: keras.Model
) -> dict[str, Any]:
    """How far the first recommendation falls without the most attended item.

    The fall is in the log-probability of that item over all items. Beside it the fall
    without another item of those that were read, drawn at random for each user, and the
    difference with its interval over users: above 0 attention points at what matters
    more than any other item would.

    Returns:
        `{"deletion_test": ...}`, or nothing for a model that does not attend.
    """
    tests = data.held_out("test")
    histories = [items for items in tests.histories if len(items) > 1]
    histories = histories[: config.evaluation.deletion_users]
    random = np.random.default_rng(config.evaluation.seed)
    score = data.scorer(model)
    pairs = []
    for history, item in zip(histories, recommended(score, histories), strict=True):
        found = shares(model, history, item, config.data.max_length)
        if found is None:
            return {}
        places = _places(found[ATTENTION], len(history), random)
        pairs.append(falls(score, history, item, places))
    if not pairs:
        return {}
    attended, other = np.array(pairs).T
    return {
        "deletion_test": {
            "users": len(pairs),
            "most_attended": over_users(attended)._asdict(),
            "random": over_users(other)._asdict(),
            "difference": difference(attended, other)._asdict(),
        }
    }


def recommended(score: Score, histories: Sequence[np.ndarray]) -> list[int]:
    """The first item that is recommended after each history."""
    if not histories:
        return []
    scores = score(histories)
    first = metrics.top_items(scores, 1, taken(histories, scores.shape[1]))
    return first[:, 0].tolist()


def _places(
    attended: np.ndarray, length: int, random: np.random.Generator
) -> tuple[int, int]:
    """The place in the history of the most attended item, and of another one."""
    first = length - len(attended)  # that was read
    most = int(attended.argmax())
    other = int(random.integers(len(attended) - 1))
    return first + most, first + other + (other >= most)
