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

from applications import markdown
from applications.classification.kinds import Kind, gap, measured, percent
from applications.pipeline import cli, quiet, seeds
from applications.pipeline.comparison import number
from applications.text_classification.presets import PRESETS

PRESET = "compare"
# The first one is what attention is held against.
KINDS = ("mean_embeddings", "self_attention", "additive_pooling", "transformer")
WORDS = "TF-IDF, logistic regression"
EXTRA = "text-classification"  # brings scipy


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
    results = [measured(kind, made) for kind, made in found.items()]
    print("\n".join(table(results)))


def table(results: Sequence[Kind]) -> list[str]:
    """The lines of the Markdown table."""
    first = results[0]
    domains = list(first.entries[0]["evaluate"]["other_domains"])
    heads = ["model", "accuracy, %, over seeds", "ROC AUC"]
    heads += [f"difference to {name}, points" for name in (WORDS, first.name)]
    heads += [f"{name}, %" for name in domains]
    heads += ["parameters", "training seconds"]
    rows = [_words_row(first, domains)]
    rows += [_row(one, first, domains) for one in results]
    return markdown.table(heads, rows)


def _words_row(first: Kind, domains: Sequence[str]) -> list[str]:
    """Of the baseline, which is the same beside every model."""
    counted = ("baselines", "tfidf_logistic_regression")
    elsewhere = [
        first.mean("evaluate", "other_domains", name, *counted, "accuracy")
        for name in domains
    ]
    return [
        WORDS,
        percent(first.mean("evaluate", *counted, "accuracy")),
        number(first.mean("evaluate", *counted, "roc_auc"), 3),
        "-",
        gap(first.baseline, first.hits),
        *map(percent, elsewhere),
        "-",
        "-",
    ]


def _row(one: Kind, first: Kind, domains: Sequence[str]) -> list[str]:
    elsewhere = [
        one.mean("evaluate", "other_domains", name, "accuracy") for name in domains
    ]
    return [
        one.name,
        one.accuracy(EXTRA),
        number(one.mean("evaluate", "roc_auc"), 3),
        gap(one.hits, one.baseline),
        "-" if one is first else gap(one.hits, first.hits),
        *map(percent, elsewhere),
        f"{one.mean('evaluate', 'parameters'):,.0f}",
        f"{one.mean('train', 'seconds'):.0f}",
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
