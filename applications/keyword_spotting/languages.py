"""`python -m applications.keyword_spotting.languages [words=phonetic] [seeds=3]
[key=value ...]`: words of a language that was not heard in training.

Trains and evaluates the `prompts` preset on the prompts of Asterisk once for every
language that is held out, and seed, and prints a Markdown table of accuracy on it:
another language validates, three train. `words` are `digits`, `letters`, `phonetic` or
`all`; a class is the same meaning in every language, not the same sound. Intervals of
95 % are over the seeds (Student's t) and, for the difference to the nearest mean
pattern, over the clips (bootstrap). Runs that are there already, with the same
settings, are not made again; `key=value` changes settings as in `train`.
"""

import sys
from collections.abc import Sequence

from applications import markdown
from applications.classification.kinds import Kind, gap, measured, percent
from applications.errors import require_known
from applications.keyword_spotting.compare import EXTRA, PATTERN
from applications.keyword_spotting.presets import PRESETS
from applications.pipeline import cli, quiet, seeds

PRESET = "prompts"
SET = "asterisk_prompts"
LANGUAGES = ("en", "es", "fr", "it", "ru")
WORDS = ("digits", "letters", "phonetic", "all")

_KEY = "words="


def main(arguments: Sequence[str]) -> int:
    """Train what is missing and print the table."""
    return cli.on_runs(str(__doc__), arguments, _print)


def _print(arguments: Sequence[str]) -> None:
    words, rest = parsed(arguments)
    chosen, settings = seeds.parsed(rest)
    with quiet.startup():
        from applications.keyword_spotting.application import KeywordSpotting
    names = [f"{SET}/{words}-{language}" for language in LANGUAGES]
    found = seeds.of_each(
        KeywordSpotting(), PRESETS, PRESET, "data.name", names, chosen, settings
    )
    kinds = [
        measured(language, made)
        for language, made in zip(LANGUAGES, found.values(), strict=True)
    ]
    print("\n".join(table(kinds)))


def parsed(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Which words, and the other arguments.

    Raises:
        UserError: There are no such words.
    """
    given = [one.removeprefix(_KEY) for one in arguments if one.startswith(_KEY)]
    words = given[-1] if given else "phonetic"
    require_known("words", words, WORDS)
    return words, [one for one in arguments if not one.startswith(_KEY)]


def table(kinds: Sequence[Kind]) -> list[str]:
    """The lines of the Markdown table, a row for each language."""
    heads = ["held out", "clips", "accuracy, %, over seeds", "with five guesses, %"]
    heads += [f"{PATTERN}, %", f"difference to {PATTERN}, points"]
    heads += ["most frequent class, %"]
    return markdown.table(heads, map(_row, kinds))


def _row(one: Kind) -> list[str]:
    baselines = ("evaluate", "baselines")
    return [
        one.name,
        f"{one.mean('evaluate', 'clips'):.0f}",
        one.accuracy(EXTRA),
        percent(one.mean("evaluate", "top_5_accuracy")),
        percent(one.mean(*baselines, "nearest_mean_pattern")),
        gap(one.hits, one.baseline),
        percent(one.mean(*baselines, "most_frequent_class")),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
