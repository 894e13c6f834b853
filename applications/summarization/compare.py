"""`python -m applications.summarization.compare RUN RUN ...`: evaluated runs side by
side.

Prints a Markdown table of the runs' test metrics, and of the first ten words of each
text, with the 95 % bootstrap interval of each difference in ROUGE-L to the first run.
"""

import sys
from collections.abc import Sequence

from applications import markdown
from applications.pipeline import cli, comparison, quiet
from applications.pipeline import run as runs
from applications.pipeline.comparison import evaluated, interval, number
from applications.summarization.presets import SummarizationConfig

_DIGITS = 3
_ROUGE = ("rouge_1", "rouge_2", "rouge_l")


def main(names: Sequence[str]) -> int:
    """Compare runs by name; the first is the one the others are held against."""
    return cli.on_runs(str(__doc__), names, _print)


def _print(names: Sequence[str]) -> None:
    found = comparison.named("summarization", names)
    with quiet.startup():
        print("\n".join(table(found)))


def table(found: Sequence[runs.Run]) -> list[str]:
    """The lines of the Markdown table."""
    from applications.summarization.evaluation import lead_words, read_summaries
    from keras_attention import metrics

    measured = [evaluated(run) for run in found]
    written = [read_summaries(run) for run in found]
    comparison.require_same(found, [right for _, right, _ in written], "texts")
    sources, references, first = written[0]
    ours = metrics.rouge(first, references)["rouge_l"]

    def difference(summaries: list[str]) -> str:
        theirs = metrics.rouge(summaries, references)["rouge_l"]
        return interval(metrics.rouge_difference(theirs, ours), _DIGITS)

    rows = []
    for run, values, (_, _, summaries) in zip(found, measured, written, strict=True):
        gap = "-" if run is found[0] else difference(summaries)
        rows.append(_cells(run, values, gap))
    scores = [number(measured[0]["lead_10_words"][name], _DIGITS) for name in _ROUGE]
    lead = ["first 10 words", "-", "-", *scores, "-", difference(lead_words(sources))]
    heads = ["model", "parameters", "training minutes", "ROUGE-1", "ROUGE-2", "ROUGE-L"]
    heads += ["perplexity", f"ROUGE-L, difference to {found[0].name}"]
    return markdown.table(heads, [*rows, lead])


def _cells(run: runs.Run, values: dict, gap: str) -> list[str]:
    train = run.results()["train"]["metrics"]
    return [
        run.config(SummarizationConfig).model.kind,
        f"{train['parameters']:,}",
        number(train["seconds"] / 60),
        *(number(values[name], _DIGITS) for name in _ROUGE),
        number(values["perplexity_per_subword"]),
        gap,
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
