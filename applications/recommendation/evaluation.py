"""How well a run foresees what users took next, beside popularity and item-kNN."""

import time
from typing import Any

import keras

from applications.pipeline.finite import require_finite
from applications.pipeline.run import Run
from applications.recommendation import scores
from applications.recommendation.baselines import (
    ItemNeighbours,
    Popularity,
    best_neighbours,
)
from applications.recommendation.data import HeldOut, RecommendationData
from applications.recommendation.deletion import deletion_test
from applications.recommendation.presets import RecommendationConfig
from applications.recommendation.ranking import (
    Ranking,
    full_ranks,
    ranking,
    sampled_candidates,
)
from applications.recommendation.scorer import USERS_AT_ONCE, Score
from keras_attention import metrics

POPULARITY, ITEM_KNN = "popularity", "item_knn"


def validate(
    config: RecommendationConfig, data: RecommendationData, model: keras.Model
) -> dict[str, float]:
    """HR and NDCG of the full ranking on validation."""
    k = config.evaluation.top_k
    found = full_ranks(data.scorer(model), data.held_out("validation"))
    return {
        "hit_rate": metrics.hit_rate(found, k),
        "ndcg": metrics.ndcg(found, k),
    }


def evaluate(
    config: RecommendationConfig, data: RecommendationData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over all users of the test split, beside the baselines.

    The ranks of every user are written beside them.

    Raises:
        UserError: The model gives NaN.
    """
    tests, k = data.held_out("test"), config.evaluation.top_k
    score = data.scorer(model)
    require_finite(run, score(tests.histories[:USERS_AT_ONCE])[:, 1:], "users")
    candidates = sampled_candidates(
        tests,
        data.histories,
        data.num_items,
        config.evaluation.negatives,
        config.evaluation.seed,
    )
    neighbours = _neighbours(config, data)
    systems: dict[str, Score] = {
        scores.MODEL: score,
        POPULARITY: Popularity(data.counts),
        ITEM_KNN: neighbours,
    }
    found, seconds = {}, {}
    for name, one in systems.items():
        began = time.perf_counter()
        found[name] = ranking(one, tests, candidates, k)
        seconds[name] = time.perf_counter() - began
    scores.keep(run, config, found, targets=tests.targets, users=tests.users)
    own = found.pop(scores.MODEL)
    beside = {
        name: _figures(config, data, tests, one) | {"differences": _above(own, one, k)}
        for name, one in found.items()
    }
    beside[ITEM_KNN]["neighbours"] = neighbours.neighbours
    return {
        "users": len(tests.targets),
        "items": data.num_items,
        **_figures(config, data, tests, own),
        "baselines": beside,
        **deletion_test(config, data, model),
        "parameters": model.count_params(),
        "users_per_second": len(tests.targets) / seconds[scores.MODEL],
    }


def _neighbours(
    config: RecommendationConfig, data: RecommendationData
) -> ItemNeighbours:
    """Fitted on what models learn from, chosen on validation."""
    return best_neighbours(
        data.learned,
        data.num_items,
        data.held_out("validation"),
        config.baseline.neighbours,
        config.evaluation.top_k,
    )


def _figures(
    config: RecommendationConfig,
    data: RecommendationData,
    tests: HeldOut,
    found: Ranking,
) -> dict[str, Any]:
    k = config.evaluation.top_k
    return {
        "full_ranking": scores.figures(found.full, k),
        f"sampled_{config.evaluation.negatives}_negatives": scores.figures(
            found.sampled, k
        ),
        **scores.lists(found, tests.targets, data.counts, k),
    }


def _above(own: Ranking, other: Ranking, k: int) -> dict[str, Any]:
    """How far the full ranking of the model is above a baseline's."""
    return {
        f"hit_rate_{k}": scores.difference(
            own.full.hits(k), other.full.hits(k)
        )._asdict(),
        f"ndcg_{k}": scores.difference(
            own.full.gains(k), other.full.gains(k)
        )._asdict(),
    }
