"""The figures of ranks, each with its interval over users."""

from typing import Any

import numpy as np

from applications.pipeline import files
from applications.pipeline.run import Run
from applications.recommendation.ranking import Ranking
from keras_attention import metrics

RANKS = "ranks.npz"
MODEL = "model"

_PROTOCOLS = ("full", "sampled")


def figures(ranks: metrics.Ranks, k: int) -> dict[str, dict[str, float]]:
    """HR@k, NDCG@k and the mean reciprocal rank, with their 95 % intervals."""
    return {
        f"hit_rate_{k}": over_users(ranks.hits(k))._asdict(),
        f"ndcg_{k}": over_users(ranks.gains(k))._asdict(),
        "mrr": over_users(ranks.reciprocals())._asdict(),
    }


def over_users(values: np.ndarray) -> metrics.Difference:
    """The mean of a figure of each user, `(n,)`, and its interval over users like them.

    By bootstrap: the difference to a system that has 0 everywhere.
    """
    return difference(values, np.zeros(len(values)))


def difference(first: np.ndarray, second: np.ndarray) -> metrics.Difference:
    """The mean of the first minus that of the second, `(n,)` of the same users."""
    pairs = (np.stack([x, np.ones(len(x))], axis=1) for x in (first, second))
    return metrics.bootstrap_difference(*pairs, lambda sums: sums[0] / sums[1])


def lists(
    found: Ranking, targets: np.ndarray, counts: np.ndarray, k: int
) -> dict[str, Any]:
    """What the lists are made of: how much of the catalogue, and how popular."""
    bias = metrics.popularity_bias(found.recommended, targets, counts)
    return {
        f"coverage_{k}": metrics.coverage(found.recommended, len(counts) - 1),
        f"popularity_percentile_{k}": bias.recommended,
        "popularity_percentile_taken": bias.taken,
        f"popularity_bias_{k}": bias.difference,
    }


def keep(
    run: Run, config: Any, found: dict[str, Ranking], **arrays: np.ndarray
) -> None:
    """Write the ranks of a model and of its baselines into the run.

    Only if they are those of its own settings: else they are not those of the tables.
    """
    if config != run.config(type(config)):
        return
    arrays |= {
        f"{name}/{protocol}": np.stack(getattr(one, protocol))
        for name, one in found.items()
        for protocol in _PROTOCOLS
    }
    with files.replacing(run.path(RANKS)) as path, open(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def kept(run: Run, protocol: str = "full") -> dict[str, metrics.Ranks]:
    """The ranks of a run's model (`MODEL`) and of its baselines, by name."""
    with np.load(run.path(RANKS)) as arrays:
        return {
            key.removesuffix(f"/{protocol}"): metrics.Ranks(*arrays[key])
            for key in arrays
            if key.endswith(f"/{protocol}")
        }
