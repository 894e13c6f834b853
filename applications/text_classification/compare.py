"""`python -m applications.text_classification.compare [seeds=3] [key=value ...]`:
every kind of model beside the others and beside counted words.

Trains and evaluates the `compare` preset once for every kind and seed and prints a
Markdown table of test accuracy. Two intervals of 95 % stand in it: over the seeds,
which draw weights and order anew (Student's t); and over the test texts, for the
difference to a baseline of the mean over seeds (bootstrap). Runs that are there
already, with the same settings, are not made again; `key=value` changes settings as in
`train`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from applications import markdown
from applications.pipeline import cli, comparison, quiet, seeds
from applications.pipeline.comparison import number
from applications.pipeline.run import Run
from applications.text_classification.presets import PRESETS

PRESET = "compare"
# The first one is what attention is held against.
KINDS = ("mean_embeddings", "self_attention", "additive_pooling", "transformer")
WORDS = "TF-IDF, logistic regression"
EXTRA = "text-classification"  # brings scipy


@dataclass(frozen=True)
class Result:
    """What is measured of one kind.

    Attributes:
        kind: Its name.
        entries: Metrics by stage, of each seed.
        hits: How often each test text is right, `(n,)`, the mean over seeds.
        baseline: Whether each is right by counted words.
    """

    kind: str
    entries: list[dict[str, Any]]
    hits: np.ndarray
    baseline: np.ndarray

    def mean(self, *names: str) -> float:
        """Mean over seeds of a number that `evaluate` or `train` left."""
        return float(self.each(*names).mean())

    def each(self, *names: str) -> np.ndarray:
        """That number of each seed; NaN where there is none."""
        return np.array([_inside(entry, names) for entry in self.entries], float)


def main(arguments: Sequence[str]) -> int:
    """Train what is missing and print the table."""
    return cli.on_runs(str(__doc__), arguments, _print)


def _print(arguments: Sequence[str]) -> None:
    chosen, settings = seeds.parsed(arguments)
    with quiet.startup():
        from applications.text_classification.application import TextClassification
    found = seeds.of_each(
        TextClassification(), PRESETS, PRESET, "model.kind", KINDS, chosen, settings
    )
    results = [result(kind, made) for kind, made in found.items()]
    print("\n".join(table(results)))


def result(kind: str, found: Sequence[Run]) -> Result:
    """Read what the runs of a kind left."""
    from applications.classification.scores import PREDICTIONS
    from keras_attention import metrics

    entries, hits = [], []
    for run in found:
        entries.append({s: e["metrics"] for s, e in run.results().items()})
        with np.load(run.path(PREDICTIONS)) as kept:
            labels, logits = kept["labels"], kept["logits"]
            baseline = kept["baseline"] == labels
        hits.append(metrics.predicted_classes(logits) == labels)
    return Result(kind, entries, np.mean(hits, axis=0), baseline)


def table(results: Sequence[Result]) -> list[str]:
    """The lines of the Markdown table."""
    first = results[0]
    domains = list(first.entries[0]["evaluate"]["other_domains"])
    heads = ["model", "accuracy, %, over seeds", "ROC AUC"]
    heads += [f"difference to {name}, points" for name in (WORDS, first.kind)]
    heads += [f"{name}, %" for name in domains]
    heads += ["parameters", "training seconds"]
    rows = [_words_row(first, domains)]
    rows += [_row(one, first, domains) for one in results]
    return markdown.table(heads, rows)


def _words_row(first: Result, domains: Sequence[str]) -> list[str]:
    """Of the baseline, which is the same beside every model."""
    counted = ("baselines", "tfidf_logistic_regression")
    elsewhere = [
        first.mean("evaluate", "other_domains", name, *counted, "accuracy")
        for name in domains
    ]
    return [
        WORDS,
        _percent(first.mean("evaluate", *counted, "accuracy")),
        number(first.mean("evaluate", *counted, "roc_auc"), 3),
        "-",
        _gap(first.baseline, first.hits),
        *map(_percent, elsewhere),
        "-",
        "-",
    ]


def _row(one: Result, first: Result, domains: Sequence[str]) -> list[str]:
    accuracy = seeds.interval(100 * one.each("evaluate", "accuracy"), EXTRA)
    elsewhere = [
        one.mean("evaluate", "other_domains", name, "accuracy") for name in domains
    ]
    return [
        one.kind,
        f"{accuracy.value:.1f} [{accuracy.low:.1f}, {accuracy.high:.1f}]",
        number(one.mean("evaluate", "roc_auc"), 3),
        _gap(one.hits, one.baseline),
        "-" if one is first else _gap(one.hits, first.hits),
        *map(_percent, elsewhere),
        f"{one.mean('evaluate', 'parameters'):,.0f}",
        f"{one.mean('train', 'seconds'):.0f}",
    ]


def _gap(hits: np.ndarray, others: np.ndarray) -> str:
    """In points, with its interval over the test texts."""
    from applications.classification.scores import difference_of_hits

    return comparison.interval(difference_of_hits(100 * hits, 100 * others))


def _percent(share: float) -> str:
    return number(100 * share)


def _inside(entry: dict[str, Any], names: Sequence[str]) -> Any:
    for name in names:
        entry = entry[name]
    return entry


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
