"""`python -m applications.translation.compare RUN RUN ...`: evaluated runs side by
side.

Prints a Markdown table of the runs' test metrics with the 95 % bootstrap interval of
each difference to the first run, BLEU by source length, and draws that curve.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from applications import markdown
from applications.pipeline import cli, comparison, quiet
from applications.pipeline import run as runs
from applications.pipeline.comparison import evaluated, interval, number
from applications.translation.presets import TranslationConfig

CURVE = "bleu-by-length.png"


def main(names: Sequence[str]) -> int:
    """Compare runs by name; the first is the one the others are held against."""
    return cli.on_runs(str(__doc__), names, _print)


def _print(names: Sequence[str]) -> None:
    found = comparison.named("translation", names)
    with quiet.startup():
        print("\n".join(table(found)))
        print(f"\n{draw(found)}")


def table(found: Sequence[runs.Run]) -> list[str]:
    """The lines of the Markdown table."""
    from applications.translation.evaluation import read_translations
    from keras_attention import metrics

    measured = [evaluated(run) for run in found]
    written = [read_translations(run) for run in found]
    comparison.require_same(found, [right for _, right, _ in written], "sentences")
    sources, references, first = written[0]
    lengths = list(measured[0]["bleu_by_source_words"])
    heads = ["model", "parameters", "training minutes", "BLEU", "chrF", "perplexity"]
    heads += [f"BLEU, difference to {found[0].name}"]
    heads += [f"BLEU, {length} words" for length in lengths]
    rows = []

    def difference(translations: list[str]) -> str:
        return interval(metrics.paired_bootstrap(translations, first, references))

    for run, values, (_, _, translations) in zip(found, measured, written, strict=True):
        gap = "-" if run is found[0] else difference(translations)
        rows.append(_cells(run, values, gap, lengths))
    copy = measured[0]["copy_source"]
    cells = ["copy of the source", "-", "-", number(copy["bleu"])]
    cells += [number(copy["chrf"]), "-", difference(sources)]
    return markdown.table(heads, [*rows, [*cells, *["-"] * len(lengths)]])


def _cells(run: runs.Run, values: dict, gap: str, lengths: list[str]) -> list[str]:
    train = run.results()["train"]["metrics"]
    return [
        run.config(TranslationConfig).model.kind,
        f"{train['parameters']:,}",
        number(train["seconds"] / 60),
        number(values["bleu"]),
        number(values["chrf"]),
        number(values["perplexity_per_subword"]),
        gap,
        *(number(values["bleu_by_source_words"][x]["bleu"]) for x in lengths),
    ]


def draw(found: Sequence[runs.Run]) -> Path:
    """BLEU over source length, a line per run; returns the picture's path."""
    from matplotlib.figure import Figure

    from keras_attention.interpretation import plots

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for run in found:
        curve = evaluated(run)["bleu_by_source_words"]
        label = run.config(TranslationConfig).model.kind
        axes.plot(list(curve), [v["bleu"] for v in curve.values()], "o-", label=label)
    axes.set(xlabel="words in the source", ylabel="test BLEU", ylim=(0, None))
    axes.legend()
    return plots.save(figure, found[0].path("figures", CURVE))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
