"""`python -m applications.keyword_spotting.compare [seeds=3] [key=value ...]`:
every kind of model beside the others and beside the nearest mean pattern.

Trains and evaluates the `compare` preset once for every kind and seed and prints a
Markdown table of test accuracy. Two intervals of 95 % stand in it: over the seeds,
which draw weights and order anew (Student's t); and over the test clips, for the
difference to a baseline of the mean over seeds (bootstrap). Runs that are there
already, with the same settings, are not made again; `key=value` changes settings as in
`train`.
"""

import sys
from collections.abc import Sequence

from applications import markdown
from applications.classification.kinds import Kind, gap, measured, percent
from applications.keyword_spotting.presets import PRESETS
from applications.pipeline import cli, quiet, seeds
from applications.pipeline.comparison import number

PRESET = "compare"
# The first one is what attention is held against.
KINDS = ("mean_frames", "temporal_attention", "keyword_transformer")
PATTERN = "nearest mean pattern"
EXTRA = "speech"  # brings scipy


def main(arguments: Sequence[str]) -> int:
    """Train what is missing and print the table."""
    return cli.on_runs(str(__doc__), arguments, _print)


def _print(arguments: Sequence[str]) -> None:
    chosen, settings = seeds.parsed(arguments)
    with quiet.startup():
        from applications.keyword_spotting.application import KeywordSpotting
    found = seeds.of_each(
        KeywordSpotting(), PRESETS, PRESET, "model.kind", KINDS, chosen, settings
    )
    print("\n".join(table([measured(kind, made) for kind, made in found.items()])))


def table(kinds: Sequence[Kind]) -> list[str]:
    """The lines of the Markdown table."""
    first = kinds[0]
    heads = ["model", "accuracy, %, over seeds"]
    heads += [f"difference to {name}, points" for name in (PATTERN, first.name)]
    heads += ["milliseconds a clip", "parameters", "training seconds"]
    baseline = first.mean("evaluate", "baselines", "nearest_mean_pattern")
    rows = [[PATTERN, percent(baseline), "-", gap(first.baseline, first.hits)]]
    rows[0] += ["-"] * 3
    rows += [_row(one, first) for one in kinds]
    return markdown.table(heads, rows)


def _row(one: Kind, first: Kind) -> list[str]:
    return [
        one.name,
        one.accuracy(EXTRA),
        gap(one.hits, one.baseline),
        "-" if one is first else gap(one.hits, first.hits),
        number(one.mean("evaluate", "milliseconds_per_clip")),
        f"{one.mean('evaluate', 'parameters'):,.0f}",
        f"{one.mean('train', 'seconds'):.0f}",
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
