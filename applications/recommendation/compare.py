"""`python -m applications.recommendation.compare [seeds=3] [key=value ...]`:
every kind of model beside the others, popularity, item-kNN and RecBole's SASRec.

Trains and evaluates the `compare` preset once for every kind and seed and prints a
Markdown table. NDCG@10 and HR@10 rank all items that a user has not taken; those called
sampled rank the target among 100 items drawn at random, which says less and is there
because others report it. Two intervals of 95 % stand in it: over the seeds, which
draw weights and order anew (Student's t); and over the test users, for the difference
to another model of the mean over seeds (bootstrap). Runs that are there already, with
the same settings, are not made again; `key=value` changes settings as in `train`.
RecBole's model is there after `python -m benchmarks.recbole_sasrec` on the same log,
read as far back.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from applications import markdown
from applications.pipeline import cli, comparison, quiet, seeds
from applications.pipeline.comparison import number
from applications.pipeline.run import Run
from applications.recommendation.presets import (
    PRESETS,
    EvaluationConfig,
    RecommendationConfig,
)

PRESET = "compare"
# The first one is what attention is held against.
KINDS = ("gru", "narm", "din", "bert4rec", "sasrec")
BASELINES = {"popularity": "popularity", "item_knn": "item-kNN"}
EXTRA = "recommendation"  # brings scipy
PEER = Path(__file__).parents[2] / "benchmarks" / "results" / "recbole_sasrec.json"

_PEER_NAME = "SASRec of RecBole"
_DIGITS = 4


@dataclass(frozen=True)
class System:
    """What is measured of one kind of model, or of a baseline.

    Attributes:
        name: What the table calls it.
        gains: Of each test user by seed, `(seeds, n)`: what NDCG@k is the mean of.
        hits: The same of HR@k.
        values: By name what else the table shows, the mean over seeds.
    """

    name: str
    gains: np.ndarray
    hits: np.ndarray
    values: dict[str, float]


def main(arguments: Sequence[str]) -> int:
    """Train what is missing and print the table."""
    return cli.on_runs(str(__doc__), arguments, _print)


def _print(arguments: Sequence[str]) -> None:
    chosen, settings = seeds.parsed(arguments)
    with quiet.startup():
        from applications.recommendation.application import Recommendation
    found = seeds.of_each(
        Recommendation(), PRESETS, PRESET, "model.kind", KINDS, chosen, settings
    )
    asked = _evaluation(next(iter(found.values()))[0])
    print("\n".join(table(systems(found), asked.top_k, asked.negatives)))


def systems(found: dict[str, list[Run]]) -> list[System]:
    """The baselines, RecBole's model if it was measured, and the kinds, in this order.

    Args:
        found: Evaluated runs of each kind, one for each seed.

    Raises:
        UserError: They were evaluated on other users.
    """
    runs = [run for made in found.values() for run in made]
    targets = [_targets(run).tolist() for run in runs]
    comparison.require_same(runs, targets, "users")
    first = runs[0]
    k, max_length = _evaluation(first).top_k, _config(first).data.max_length
    return [
        *(_baseline(first, name, k) for name in BASELINES),
        *peer(targets[0], max_length, k),
        *(_kind(name, made, k) for name, made in found.items()),
    ]


def table(found: Sequence[System], k: int, negatives: int) -> list[str]:
    """The lines of the Markdown table.

    Args:
        found: Popularity first; `KINDS[0]` among them. Each is held against these two
            and against RecBole's model where it is there.
        k: Length of the lists.
        negatives: Of the sampled protocol.
    """
    others = [found[0], next(one for one in found if one.name == KINDS[0])]
    others += [one for one in found if one.name.startswith(_PEER_NAME)]
    heads = ["model", f"NDCG@{k}, all items", f"HR@{k}, all items"]
    heads += [f"NDCG@{k}, all items, difference to {one.name}" for one in others]
    heads += [f"{name}@{k}, {negatives} sampled" for name in ("NDCG", "HR")]
    heads += [f"coverage@{k}", f"popularity bias@{k}", "parameters", "training seconds"]
    return markdown.table(heads, [_row(one, others) for one in found])


def _row(one: System, others: Sequence[System]) -> list[str]:
    values = one.values
    return [
        one.name,
        _over_seeds(one.gains),
        _over_seeds(one.hits),
        *("-" if one is other else _gap(one, other) for other in others),
        number(values.get("sampled_ndcg"), _DIGITS),
        number(values.get("sampled_hit_rate"), _DIGITS),
        number(values.get("coverage"), 2),
        f"{values['popularity_bias']:+.2f}" if "popularity_bias" in values else "-",
        f"{values['parameters']:,.0f}" if "parameters" in values else "-",
        number(values.get("seconds"), 0),
    ]


def _over_seeds(of_users: np.ndarray) -> str:
    """The mean over users and seeds; with its interval over seeds, if several."""
    means = of_users.mean(axis=1)
    if len(means) < 2:
        return number(means[0], _DIGITS)
    found = seeds.interval(means, EXTRA)
    low, high = number(found.low, _DIGITS), number(found.high, _DIGITS)
    return f"{number(found.value, _DIGITS)} [{low}, {high}]"


def _gap(one: System, other: System) -> str:
    """User by user, of the mean over seeds."""
    from applications.recommendation.scores import difference

    gains = (system.gains.mean(axis=0) for system in (one, other))
    return comparison.interval(difference(*gains), _DIGITS)


def peer(targets: list[int], max_length: int, k: int) -> list[System]:
    """RecBole's model, if it was measured on just these users, items and lengths."""
    from keras_attention import metrics

    if not PEER.exists():
        return []
    content = json.loads(PEER.read_text(encoding="utf-8"))
    if (content["targets"], content["data"]["max_length"]) != (targets, max_length):
        print(
            f"{PEER.name} is of another log or data.max_length, so it is left out.",
            file=sys.stderr,
        )
        return []
    made = content["seeds"]
    ranks = [
        metrics.Ranks(np.array(one["above"]), np.array(one["tied"])) for one in made
    ]
    return [
        System(
            f"{_PEER_NAME} {content['version']}",
            np.stack([one.gains(k) for one in ranks]),
            np.stack([one.hits(k) for one in ranks]),
            {
                name: float(np.mean([one[name] for one in made]))
                for name in ("parameters", "seconds")
            },
        )
    ]


def _baseline(run: Run, name: str, k: int) -> System:
    """Of the run, whose seed changes nothing of it."""
    from applications.recommendation.scores import kept

    ranks = kept(run)[name]
    entry = run.results()["evaluate"]["metrics"]["baselines"][name]
    values = _values(entry, run)
    return System(BASELINES[name], ranks.gains(k)[None], ranks.hits(k)[None], values)


def _kind(name: str, made: Sequence[Run], k: int) -> System:
    """Of the runs of a kind, one for each seed."""
    from applications.recommendation.scores import MODEL, kept

    ranks = [kept(run)[MODEL] for run in made]
    rows = []
    for run in made:
        entries = run.results()
        evaluated = entries["evaluate"]["metrics"]
        seconds = entries["train"]["metrics"]["seconds"]
        own = {"parameters": evaluated["parameters"], "seconds": seconds}
        rows.append(_values(evaluated, run) | own)
    return System(
        name,
        np.stack([one.gains(k) for one in ranks]),
        np.stack([one.hits(k) for one in ranks]),
        {key: float(np.mean([row[key] for row in rows])) for key in rows[0]},
    )


def _values(entry: dict[str, Any], run: Run) -> dict[str, float]:
    """What stands in an entry of `evaluate` beside the full ranking."""
    asked = _evaluation(run)
    k = asked.top_k
    sampled = entry[f"sampled_{asked.negatives}_negatives"]
    return {
        "sampled_ndcg": sampled[f"ndcg_{k}"]["value"],
        "sampled_hit_rate": sampled[f"hit_rate_{k}"]["value"],
        "coverage": entry[f"coverage_{k}"],
        "popularity_bias": entry[f"popularity_bias_{k}"],
    }


def _evaluation(run: Run) -> EvaluationConfig:
    return _config(run).evaluation


def _config(run: Run) -> RecommendationConfig:
    return run.config(RecommendationConfig)


def _targets(run: Run) -> np.ndarray:
    from applications.recommendation.scores import RANKS

    with np.load(run.path(RANKS)) as arrays:
        return arrays["targets"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
