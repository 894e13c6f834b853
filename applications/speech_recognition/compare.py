"""`python -m applications.speech_recognition.compare RUN RUN ...`: evaluated runs side
by side.

Prints a Markdown table of the runs' error rates and those of the baselines over the
test split, with the 95 % bootstrap interval over its clips of each difference in
character errors to the first run.
"""

import sys
from collections.abc import Sequence
from typing import Any

from applications import markdown
from applications.classification.kinds import percent
from applications.pipeline import cli, comparison, quiet
from applications.pipeline import run as runs
from applications.pipeline.comparison import evaluated, interval, number
from applications.speech_recognition.presets import SpeechConfig


def main(names: Sequence[str]) -> int:
    """Compare runs by name; the first is the one the others are held against."""
    return cli.on_runs(str(__doc__), names, _print)


def _print(names: Sequence[str]) -> None:
    found = comparison.named("speech_recognition", names)
    with quiet.startup():
        print("\n".join(table(found)))


def table(found: Sequence[runs.Run]) -> list[str]:
    """The lines of the Markdown table."""
    from applications.speech_recognition import evaluation

    measured = [evaluated(run) for run in found]
    written = [evaluation.read_transcripts(run) for run in found]
    comparison.require_same(found, [right for _, right, _ in written], "clips")
    _, references, first = written[0]
    heads = ["model", "parameters", "training minutes", "CER, %", "WER, %"]
    heads += ["CER greedy, %", "diagonality of the best head", "seconds per second"]
    heads += [f"CER, difference to {found[0].name}, points"]
    rows = []
    for run, values, (_, _, texts) in zip(found, measured, written, strict=True):
        gap = "-" if run is found[0] else difference(texts, first, references)
        rows.append([*_cells(run, values), gap])
    usual = measured[0]["baselines"]["most_frequent_text"]["text"]
    for name, texts in evaluation.baselines(len(references), usual).items():
        values = measured[0]["baselines"][name]
        cells = [name.replace("_", " "), "-", "-"]
        cells += [percent(values["cer"]), percent(values["wer"]), "-", "-", "-"]
        rows.append([*cells, difference(texts, first, references)])
    return markdown.table(heads, rows)


def difference(
    texts: Sequence[str], others: Sequence[str], references: Sequence[str]
) -> str:
    """Character errors of texts less those of others, in points, with the interval."""
    from keras_attention import metrics

    one, other = (
        metrics.character_error_rate(said, references) for said in (texts, others)
    )
    gap = metrics.error_rate_difference(one, other)
    return interval(metrics.Difference(*(100 * value for value in gap)))


def with_interval(values: dict[str, Any], name: str) -> str:
    """A cell: an error rate of an evaluation, in percent, with its interval."""
    low, high = (values[f"{name}_interval"][side] for side in ("low", "high"))
    return f"{percent(values[name])} [{percent(low)}, {percent(high)}]"


def _cells(run: runs.Run, values: dict[str, Any]) -> list[str]:
    train = run.results()["train"]["metrics"]
    return [
        f"{named(run.config(SpeechConfig))} ({run.name})",
        f"{values['parameters']:,}",
        number(train["seconds"] / 60),
        with_interval(values, "cer"),
        with_interval(values, "wer"),
        percent(values["greedy"]["cer"]),
        number(_best_head(values), 2),
        number(values["seconds_per_second_of_sound"], 2),
    ]


def _best_head(values: dict[str, Any]) -> float | None:
    """Of a model without a decoder none."""
    heads = values.get("diagonality", {})
    return max((x for name, x in heads.items() if "head" in name), default=None)


def named(config: SpeechConfig) -> str:
    """What a model is made of, in words.

    Examples:
    >>> from applications.speech_recognition.presets import PRESETS
    >>> named(PRESETS["compare"])
    'conformer, CTC and transformer'
    """
    model = config.model
    writes = {
        "ctc": "CTC",
        "attention": model.decoder,
        "joint": f"CTC and {model.decoder}",
    }
    return f"{model.encoder}, {writes[model.objective]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
