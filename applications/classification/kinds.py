"""Kinds of classifiers side by side, each trained with several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from applications.pipeline import comparison, seeds
from applications.pipeline.comparison import number
from applications.pipeline.run import Run


@dataclass(frozen=True)
class Kind:
    """What is measured of one kind.

    Attributes:
        name: What the table calls it.
        entries: Metrics by stage, of each seed.
        hits: How often each test example is right, `(n,)`, the mean over seeds.
        baseline: Whether each is right by the baseline that `evaluate` kept.
    """

    name: str
    entries: list[dict[str, Any]]
    hits: np.ndarray
    baseline: np.ndarray

    def mean(self, *names: str) -> float:
        """Mean over seeds of a number that `evaluate` or `train` left."""
        return float(self.each(*names).mean())

    def each(self, *names: str) -> np.ndarray:
        """That number of each seed; NaN where there is none."""
        return np.array([_inside(entry, names) for entry in self.entries], float)

    def accuracy(self, extra: str) -> str:
        """In percent, the mean over seeds with its interval.

        Args:
            extra: Which extra of this package brings scipy.
        """
        found = seeds.interval(100 * self.each("evaluate", "accuracy"), extra)
        return f"{found.value:.1f} [{found.low:.1f}, {found.high:.1f}]"


def measured(name: str, found: Sequence[Run]) -> Kind:
    """Read what the evaluated runs of a kind left, one for each seed."""
    from applications.classification.scores import PREDICTIONS
    from keras_attention import metrics

    entries, hits = [], []
    for run in found:
        entries.append({s: e["metrics"] for s, e in run.results().items()})
        with np.load(run.path(PREDICTIONS)) as kept:
            labels, logits = kept["labels"], kept["logits"]
            baseline = kept["baseline"] == labels
        hits.append(metrics.predicted_classes(logits) == labels)
    return Kind(name, entries, np.mean(hits, axis=0), baseline)


def gap(hits: np.ndarray, others: np.ndarray) -> str:
    """A difference in points, with its interval over the test examples."""
    from applications.classification.scores import difference_of_hits

    return comparison.interval(difference_of_hits(100 * hits, 100 * others))


def percent(share: float) -> str:
    """A cell of a table."""
    return number(100 * share)


def _inside(entry: dict[str, Any], names: Sequence[str]) -> Any:
    for name in names:
        entry = entry[name]
    return entry
